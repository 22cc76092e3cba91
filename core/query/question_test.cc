#include "core/query/question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "core/query/document.h"
#include "core/query/example_questions.h"

namespace prism::query {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

prism::v1::Question Parse(const std::string& text) {
  prism::v1::Question message;
  base::Violations violations;
  ReadDocument(text, &message, violations);
  for (const auto& v : violations.list()) {
    ADD_FAILURE() << v.field << ": " << v.description;
  }
  return message;
}

std::vector<base::Violation> Problems(const prism::v1::Question& message,
                                      const std::string& path = "") {
  base::Violations violations;
  const auto question = ReadQuestion(message, path, violations);
  EXPECT_EQ(question.has_value(), violations.empty());
  return violations.list();
}

Question Read(const prism::v1::Question& message) {
  base::Violations violations;
  auto question = ReadQuestion(message, "", violations);
  for (const auto& v : violations.list()) {
    ADD_FAILURE() << v.field << ": " << v.description;
  }
  return question.value_or(Question());
}

std::vector<std::string> Fields(const std::vector<base::Violation>& list) {
  std::vector<std::string> fields;
  for (const auto& violation : list) fields.push_back(violation.field);
  return fields;
}

TEST(ReadQuestion, ProfileDefaultsAreFilledIn) {
  const auto question = Read(Parse(R"(
profile:
  forward: [{compute: 1}]
  backward: [{compute: 2}]
)"));
  const auto& profile = std::get<step::StepProfile>(question.subject);
  EXPECT_EQ(profile.ranks(), 1);
  EXPECT_EQ(profile.virtual_stages, 1);
  EXPECT_EQ(profile.microbatches, 1);
  EXPECT_EQ(profile.schedule, step::ScheduleKind::kOneForwardOneBackward);
  EXPECT_EQ(profile.forward.at(0).count, 1);
  EXPECT_EQ(profile.forward.at(0).sync, step::Sync::kNone);
  EXPECT_EQ(profile.forward.at(0).collective.StatedMean(), 0);
  EXPECT_EQ(profile.transfer.StatedMean(), 0);
  EXPECT_EQ(profile.compute_regime.StatedMean(), 1);
  EXPECT_EQ(profile.microbatch_load.StatedMean(), 1);
  EXPECT_EQ(question.method, step::Method::kAuto);
  EXPECT_FALSE(question.samples.has_value());
}

TEST(ReadQuestion, SlowdownComesByRankWithoutOnes) {
  auto message = ExampleProfile();
  auto& slowdown = *message.mutable_profile()->mutable_slowdown();
  slowdown[5] = 1.5;
  slowdown[2] = 1.25;
  slowdown[3] = 1;
  const auto question = Read(message);
  EXPECT_THAT(
      std::get<step::StepProfile>(question.subject).slowdown,
      ElementsAre(std::pair(int64_t{2}, 1.25), std::pair(int64_t{5}, 1.5)));
}

TEST(ReadQuestion, JobDefaultsAreFilledIn) {
  const auto question = Read(Parse(R"(
job:
  model: {layers: 4, hidden: 512, heads: 8, vocabulary: 1000}
  training: {sequence: 128, global_batch: 4}
cluster: {accelerator: a100-80gb-sxm, nodes: 1}
)"));
  const auto& subject = std::get<JobSubject>(question.subject);
  EXPECT_EQ(subject.job.model.kv_heads, 8);
  EXPECT_EQ(subject.job.model.head_size, 64);
  EXPECT_EQ(subject.job.model.ffn_hidden, 2048);
  EXPECT_TRUE(subject.job.model.linear_bias);
  EXPECT_TRUE(subject.job.model.tied_embeddings);
  EXPECT_EQ(subject.job.parallelism.gpus(), 1);
  EXPECT_EQ(subject.job.training.micro_batch, 1);
  EXPECT_EQ(subject.job.training.precision, workload::Precision::kBf16);
  EXPECT_TRUE(subject.job.training.fp32_gradients);
  EXPECT_EQ(subject.cluster.gpus_per_node, 8);
  EXPECT_TRUE(subject.placement.nodes.empty());
}

TEST(ReadQuestion, GatedFeedForwardHasNoBiasUnlessAsked) {
  auto message = ExampleJob();
  message.mutable_job()->mutable_model()->set_gated_ffn(true);
  EXPECT_FALSE(
      std::get<JobSubject>(Read(message).subject).job.model.linear_bias);
  message.mutable_job()->mutable_model()->set_linear_bias(true);
  EXPECT_TRUE(
      std::get<JobSubject>(Read(message).subject).job.model.linear_bias);
}

TEST(ReadQuestion, VirtualStagesMeanInterleaved) {
  auto message = ExampleJob();
  message.mutable_job()->mutable_parallelism()->set_virtual_stages(2);
  message.mutable_job()->mutable_parallelism()->clear_schedule();
  EXPECT_EQ(
      std::get<JobSubject>(Read(message).subject).job.parallelism.schedule,
      workload::Schedule::kInterleaved);
}

TEST(ReadQuestion, AProfileSaysItselfWhatVaries) {
  auto message = ExampleProfile();
  message.set_variation(prism::v1::VARIATION_OFF);
  EXPECT_THAT(Fields(Problems(message)), ElementsAre("variation"));
}

TEST(ReadQuestion, LastFabricLevelSpansTheCluster) {
  auto message = ExampleJob();
  auto& cluster = *message.mutable_cluster();
  cluster.set_nodes(9);
  auto* nvlink = cluster.add_fabric();
  nvlink->set_gpus(16);
  nvlink->set_gigabytes_per_second(300);
  cluster.add_fabric()->set_gigabytes_per_second(25);
  const Question question = Read(message);
  const auto& fabric = std::get<JobSubject>(question.subject).cluster.fabric;
  ASSERT_EQ(fabric.size(), 2u);
  EXPECT_EQ(fabric[1].gpus, 80);  // 72 GPUs in whole units of 16
  EXPECT_EQ(fabric[1].bytes_per_second, 25e9);
  EXPECT_EQ(fabric[1].oversubscription, 1);
  EXPECT_GT(fabric[1].latency_seconds, fabric[0].latency_seconds);
}

struct WrongCase {
  std::string text;
  std::string field;
  std::string description;  // a part of it
};

// Parts of documents; each case overrides one of them.
std::string Profile(const std::string& rest,
                    const std::string& forward = "[{compute: 1}]") {
  return "profile:\n  forward: " + forward +
         "\n  backward: [{compute: 1}]\n  " + rest;
}

std::string WithTransfer(const std::string& distribution) {
  return Profile("transfer: " + distribution);
}

class WrongProfile : public testing::TestWithParam<WrongCase> {};

TEST_P(WrongProfile, NamesFieldValueAndWhatIsAccepted) {
  const auto problems = Problems(Parse(GetParam().text));
  ASSERT_EQ(problems.size(), 1u) << GetParam().text;
  EXPECT_EQ(problems[0].field, GetParam().field);
  EXPECT_THAT(problems[0].description, HasSubstr(GetParam().description));
}

INSTANTIATE_TEST_SUITE_P(
    Distribution, WrongProfile,
    testing::Values(
        WrongCase{WithTransfer("-0.5"), "profile.transfer",
                  "is -0.5; must be at least 0"},
        WrongCase{WithTransfer("1e16"), "profile.transfer",
                  "is 1e+16; must be at most 1e+15"},
        WrongCase{WithTransfer("{}"), "profile.transfer",
                  "is empty; must be a number or one of constant, normal"},
        WrongCase{WithTransfer("{normal: {sd: 1}}"),
                  "profile.transfer.normal.mean", "is 0; must be above 0"},
        WrongCase{WithTransfer("{normal: {mean: 1, sd: -1}}"),
                  "profile.transfer.normal.sd", "is -1; must be at least 0"},
        WrongCase{WithTransfer("{lognormal: {mean: -1}}"),
                  "profile.transfer.lognormal.mean", "is -1; must be above 0"},
        WrongCase{WithTransfer("{lognormal: {mean: 1, cv: -0.5}}"),
                  "profile.transfer.lognormal.cv",
                  "is -0.5; must be at least 0"},
        WrongCase{WithTransfer("{gamma: {cv: 1}}"),
                  "profile.transfer.gamma.mean", "is 0; must be above 0"},
        WrongCase{WithTransfer("{gamma: {mean: 1, cv: -1}}"),
                  "profile.transfer.gamma.cv", "must be at least 0"},
        WrongCase{WithTransfer("{shifted_exponential: {shift: 1}}"),
                  "profile.transfer.shifted_exponential.mean_excess",
                  "is 0; must be above 0"},
        WrongCase{
            WithTransfer("{shifted_exponential: {shift: -1, mean_excess: 1}}"),
            "profile.transfer.shifted_exponential.shift",
            "is -1; must be at least 0"},
        WrongCase{WithTransfer("{empirical: {samples: []}}"),
                  "profile.transfer.empirical.samples",
                  "has 0 entries; must have from 1 to 1000000"},
        WrongCase{WithTransfer("{empirical: {samples: [1, -2]}}"),
                  "profile.transfer.empirical.samples[1]", "is -2; must be"},
        WrongCase{WithTransfer("{mixture: []}"), "profile.transfer.mixture",
                  "has 0 entries; must have from 1 to 1000"},
        WrongCase{WithTransfer("{mixture: [{weight: 0, distribution: 1}]}"),
                  "profile.transfer.mixture",
                  "has weights with sum 0; must be above 0"},
        WrongCase{WithTransfer("{mixture: [{weight: 1, distribution: 1}, "
                               "{weight: -1, distribution: 1}]}"),
                  "profile.transfer.mixture[1].weight", "is -1; must be"},
        WrongCase{WithTransfer("{mixture: [{weight: 1}]}"),
                  "profile.transfer.mixture[0].distribution", "is empty"},
        WrongCase{Profile("compute_regime: 0"), "profile.compute_regime",
                  "has mean 0; must be above 0"},
        WrongCase{Profile("network_regime: {empirical: {samples: [0, 0]}}"),
                  "profile.network_regime", "has mean 0"},
        WrongCase{Profile("microbatch_load: -1"), "profile.microbatch_load",
                  "is -1; must be at least 0"}));

INSTANTIATE_TEST_SUITE_P(
    Profile, WrongProfile,
    testing::Values(
        WrongCase{"profile: {forward: [{compute: 1}]}", "profile.backward",
                  "is missing; must have at least one segment"},
        WrongCase{"profile: {backward: [{compute: 1}]}", "profile.forward",
                  "is missing"},
        WrongCase{Profile("", "[{collective: 1}]"),
                  "profile.forward[0].compute", "is missing"},
        WrongCase{Profile("", "[{compute: 1, count: 0}]"),
                  "profile.forward[0].count", "must be from 1 to 100000"},
        WrongCase{Profile("",
                          "[{compute: 1, count: 60000}, "
                          "{compute: 1, count: 60000}]"),
                  "profile.forward", "runs 120000 segments in all"},
        WrongCase{
            Profile("layout: {pipeline: 2}", "[{compute: 1, sync: data}]"),
            "profile.forward[0].sync", "unless layout.pipeline is 1"},
        WrongCase{Profile("layout: {data: 1024, pipeline: 32, tensor: 64}"),
                  "profile.layout", "has 2097152 ranks"},
        WrongCase{Profile("layout: {data: 4000000000}"), "profile.layout.data",
                  "is 4000000000; must be from 1 to 1048576"},
        WrongCase{Profile("layout: {microbatches: 65537}"), "profile.layout",
                  "has 65537 micro-batches times chunks per stage"},
        WrongCase{Profile("layout: {pipeline: 128, microbatches: 65536}"),
                  "profile.layout", "micro-batches times virtual stages"},
        WrongCase{Profile("layout: {data: 1048576, microbatches: 65536}"),
                  "profile.layout", "segment runs in one step"},
        WrongCase{Profile("layout: {virtual: 2}"), "profile.layout.virtual",
                  "is 2; must be 1 for the 1f1b schedule"},
        WrongCase{Profile("schedule: interleaved"), "profile.layout.pipeline",
                  "is 1; must be above 1"},
        WrongCase{Profile("stage_scale: [1, 1]"), "profile.stage_scale",
                  "has 2 factors; must have one for each of the 1"},
        WrongCase{Profile("stage_scale: [0]"), "profile.stage_scale[0]",
                  "is 0; must be above 0"},
        WrongCase{Profile("slowdown: {1: 2}"), "profile.slowdown[1]",
                  "is for rank 1; must be from 0 to 0"},
        WrongCase{Profile("slowdown: {0: -2}"), "profile.slowdown[0]",
                  "is -2; must be above 0"}));

INSTANTIATE_TEST_SUITE_P(
    Question, WrongProfile,
    testing::Values(WrongCase{"samples: 1000", "",
                              "asks about nothing; must have a job"},
                    WrongCase{Profile("") + "\nsamples: 99", "samples",
                              "is 99; must be from 100 to 10000000"},
                    WrongCase{Profile("") + "\nsamples: 18446744073709551615",
                              "samples", "must be from 100"},
                    WrongCase{Profile("") + "\ncluster: {nodes: 1}", "cluster",
                              "is not allowed"},
                    WrongCase{Profile("") + "\nplacement: {nodes: [0]}",
                              "placement", "is not allowed"}));

TEST(ReadQuestion, NumbersThatAreNoneAreRefused) {
  for (const double value : {std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()}) {
    auto message = ExampleProfile();
    message.mutable_profile()->mutable_transfer()->set_constant(value);
    const auto problems = Problems(message);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].field, "profile.transfer");
    EXPECT_THAT(problems[0].description, HasSubstr("a finite number"));
  }
}

TEST(ReadQuestion, UnknownEnumNumbersAreRefused) {
  auto message = ExampleProfile();
  message.mutable_profile()->set_schedule(
      static_cast<prism::v1::Schedule>(170));
  message.set_method(static_cast<prism::v1::Method>(9));
  const auto problems = Problems(message);
  EXPECT_THAT(Fields(problems), ElementsAre("profile.schedule", "method"));
  EXPECT_THAT(problems[0].description,
              HasSubstr("is 170; must be one of gpipe, 1f1b, interleaved,"));
}

TEST(ReadQuestion, MixturesNestToAStatedDepth) {
  auto message = ExampleProfile();
  auto* distribution = message.mutable_profile()->mutable_transfer();
  for (int i = 0; i < 9; ++i) {
    auto* component = distribution->mutable_mixture()->add_components();
    component->set_weight(1);
    distribution = component->mutable_distribution();
  }
  distribution->set_constant(1);
  const auto problems = Problems(message);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_THAT(problems[0].description, HasSubstr("deeper than 8 levels"));
}

TEST(ReadQuestion, OneProblemHidesNoOther) {
  const auto problems = Problems(Parse(R"(
profile:
  layout: {data: 2000000, virtual: 2}
  forward: [{compute: {lognormal: {mean: 0, cv: -1}}, count: 0}]
  stage_scale: [1, -1]
  transfer: -1
  slowdown: {3: 0}
samples: 1
)"));
  EXPECT_THAT(Fields(problems),
              IsSupersetOf({"profile.layout.data", "profile.layout.virtual",
                            "profile.forward[0].compute.lognormal.mean",
                            "profile.forward[0].compute.lognormal.cv",
                            "profile.forward[0].count", "profile.backward",
                            "profile.stage_scale[1]", "profile.transfer",
                            "profile.slowdown[3]", "samples"}));
}

TEST(ReadQuestion, PathsBeginWithTheGivenOne) {
  auto message = ExampleProfile();
  message.set_samples(1);
  EXPECT_THAT(Fields(Problems(message, "questions[2]")),
              ElementsAre("questions[2].samples"));
  EXPECT_THAT(Fields(Problems({}, "questions[3]")),
              ElementsAre("questions[3]"));
}

struct JobCase {
  std::string overrides;  // merged over ExampleJob
  std::string field;
  std::string description;  // a part of it
};

class WrongJob : public testing::TestWithParam<JobCase> {};

TEST_P(WrongJob, NamesFieldValueAndWhatIsAccepted) {
  auto message = ExampleJob();
  message.MergeFrom(Parse(GetParam().overrides));
  const auto problems = Problems(message);
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0].field, GetParam().field);
  EXPECT_THAT(problems[0].description, HasSubstr(GetParam().description));
}

INSTANTIATE_TEST_SUITE_P(
    Model, WrongJob,
    testing::Values(
        JobCase{"job: {model: {layers: 10001}}", "job.model.layers",
                "is 10001; must be from 1 to 10000"},
        JobCase{"job: {model: {layers: 25}}", "job.model.layers",
                "is 25; must be divisible by parallelism.pipeline * "
                "virtual_stages, which is 2"},
        JobCase{"job: {model: {hidden: 2000000}}", "job.model.hidden",
                "must be from 1 to 1048576"},
        JobCase{"job: {model: {hidden: 1023}}", "job.model.hidden",
                "is 1023; must be divisible by heads"},
        JobCase{"job: {model: {heads: 17, head_size: 64}}", "job.model.heads",
                "is 17; must be divisible by parallelism.tensor"},
        JobCase{"job: {model: {kv_heads: 5}}", "job.model.kv_heads",
                "is 5; must divide heads, which is 16"},
        JobCase{"job: {model: {ffn_hidden: 4097}}", "job.model.ffn_hidden",
                "must be divisible by parallelism.tensor, which is 2"},
        JobCase{"job: {model: {vocabulary: 4000000000}}",
                "job.model.vocabulary", "is 4000000000; must be from 1"},
        JobCase{"job: {model: {position_embeddings: 1024}}",
                "job.training.sequence",
                "is 2048; must be at most model.position_embeddings"}));

INSTANTIATE_TEST_SUITE_P(
    Parallelism, WrongJob,
    testing::Values(
        JobCase{"job: {parallelism: {schedule: interleaved, pipeline: 1}}",
                "job.parallelism.pipeline", "is 1; must be above 1"},
        JobCase{"job: {parallelism: {schedule: gpipe, virtual_stages: 2}}",
                "job.parallelism.virtual_stages",
                "is 2; must be 1 for the gpipe schedule"},
        JobCase{"job: {parallelism: {schedule: custom}}",
                "job.parallelism.schedule",
                "is custom; must be one of gpipe, 1f1b, interleaved,"},
        JobCase{"job: {parallelism: {schedule: 2bw}}",
                "job.parallelism.schedule",
                "is 2bw; must be one of gpipe, 1f1b, interleaved,"},
        JobCase{"job: {parallelism: {schedule: zb-v, virtual_stages: 1}}",
                "job.parallelism.virtual_stages",
                "is 1; must be 2 for the zb-v schedule"},
        JobCase{"job: {parallelism: {schedule: dualpipe, virtual_stages: 3}}",
                "job.parallelism.virtual_stages",
                "is 3; must be 2 for the dualpipe schedule"},
        JobCase{"job: {parallelism: {schedule: zb-auto, virtual_stages: 3}}",
                "job.parallelism.virtual_stages",
                "is 3; must be 1 or 2 for the zb-auto schedule"},
        JobCase{"job: {parallelism: {schedule: zb-h1, pipeline: 1}}",
                "job.parallelism.pipeline",
                "is 1; must be above 1 for the zb-h1 schedule"},
        JobCase{"job: {model: {layers: 27}, parallelism: {schedule: dualpipe, "
                "pipeline: 3}}",
                "job.parallelism.pipeline",
                "is 3; must be even for the dualpipe schedule"},
        JobCase{"job: {model: {layers: 26}, parallelism: {schedule: zb-v}}",
                "job.model.layers",
                "is 26; must be divisible by parallelism.pipeline * "
                "virtual_stages, which is 4"},
        JobCase{"job: {model: {layers: 25}, parallelism: {schedule: dualpipe}}",
                "job.model.layers",
                "is 25; must be divisible by parallelism.pipeline, which is "
                "2"},
        JobCase{"job: {parallelism: {schedule: zb-h2, activation_limit: 3}}",
                "job.parallelism.activation_limit",
                "is not allowed unless schedule is zb-auto"},
        JobCase{"job: {parallelism: {data: 1048576}}", "job.parallelism",
                "must be at most 1048576"},
        JobCase{"cluster: {nodes: 1}", "job.parallelism",
                "needs 16 GPUs (tensor * context * pipeline * data); must be "
                "at most 8"},
        JobCase{"job: {parallelism: {sequence_parallel: true}, training: "
                "{sequence: 2047}}",
                "job.training.sequence", "is 2047; must be divisible by"}));

INSTANTIATE_TEST_SUITE_P(
    Training, WrongJob,
    testing::Values(
        JobCase{"job: {training: {global_batch: 66}}",
                "job.training.global_batch",
                "is 66; must be divisible by training.micro_batch * "
                "parallelism.data, which is 8"},
        JobCase{"job: {training: {global_batch: 2000000000}}",
                "job.training.global_batch", "must be from 1 to 1073741824"},
        JobCase{"job: {training: {global_batch: 800000}}",
                "job.training.global_batch",
                "has 100000 micro-batches times chunks per stage"},
        JobCase{"job: {parallelism: {schedule: dualpipe}, training: "
                "{global_batch: 72}}",
                "job.training.global_batch",
                "gives micro-batches whose number is 9; must be even for the "
                "dualpipe schedule"},
        JobCase{"job: {parallelism: {schedule: dualpipe-v}, training: "
                "{global_batch: 24}}",
                "job.training.global_batch",
                "gives micro-batches whose number is 3; must be at least"},
        JobCase{"job: {parallelism: {schedule: zb-auto}, training: "
                "{global_batch: 270000}}",
                "job.training.global_batch",
                "gives 33750 micro-batches on 2 stages, which is 67500 of "
                "both; must be at most 65536 for the zb-auto schedule"},
        JobCase{"job: {training: {offload_activations: 1.5}}",
                "job.training.offload_activations",
                "is 1.5; must be from 0 to 1"},
        JobCase{"job: {training: {keep_microbatches: 1}}",
                "job.training.keep_microbatches",
                "is not allowed unless recompute is full"},
        JobCase{"job: {parallelism: {schedule: gpipe}, training: {recompute: "
                "full, keep_microbatches: 1}}",
                "job.training.keep_microbatches",
                "is not allowed unless schedule is 1f1b or interleaved"},
        JobCase{"job: {parallelism: {schedule: interleaved, virtual_stages: "
                "2}, training: {global_batch: 72, recompute: full, "
                "keep_microbatches: 1}}",
                "job.training.keep_microbatches",
                "unless the 9 micro-batches are divisible by "
                "parallelism.pipeline, which is 2"}));

INSTANTIATE_TEST_SUITE_P(
    Cluster, WrongJob,
    testing::Values(
        JobCase{"cluster: {accelerator: a100}", "cluster.accelerator",
                "is \"a100\"; must be one of "},
        JobCase{"cluster: {nodes: 2000000}", "cluster.nodes",
                "must be from 1 to 1048576"},
        JobCase{"cluster: {gpus_per_node: 2000}", "cluster.gpus_per_node",
                "must be from 1 to 1024"},
        JobCase{"cluster: {fabric: [{gpus: 8}]}", "cluster.fabric[0].gpus",
                "is 8; must be 0 or at least the GPUs of the cluster"},
        JobCase{"cluster: {fabric: [{}]}",
                "cluster.fabric[0].gigabytes_per_second",
                "is 0; must be above 0"},
        JobCase{"cluster: {fabric: [{gpus: 8, gigabytes_per_second: 1}, {gpus: "
                "20, gigabytes_per_second: 1}]}",
                "cluster.fabric[1].gpus",
                "is 20; must be divisible by gpus of the level before, which "
                "is 8"},
        JobCase{"cluster: {fabric: [{gigabytes_per_second: 1, "
                "latency_microseconds: -1}]}",
                "cluster.fabric[0].latency_microseconds", "at least 0"},
        JobCase{"cluster: {fabric: [{gigabytes_per_second: 1, "
                "oversubscription: 0.5}]}",
                "cluster.fabric[0].oversubscription",
                "is 0.5; must be at least 1"},
        JobCase{"cluster: {node_states: [{node: 2, slowdown: 2}]}",
                "cluster.node_states[0].node", "is 2; must be from 0 to 1"},
        JobCase{"cluster: {node_states: [{node: 1}, {node: 1}]}",
                "cluster.node_states[1].node", "is 1, as is node_states[0]"},
        JobCase{"cluster: {node_states: [{node: 1, slowdown: -1}]}",
                "cluster.node_states[0].slowdown", "is -1; must be above 0"}));

INSTANTIATE_TEST_SUITE_P(
    Placement, WrongJob,
    testing::Values(
        JobCase{"placement: {nodes: [0]}", "placement.nodes",
                "has 1 nodes; must have 2 for 16 GPUs with 8 in a node"},
        JobCase{"placement: {nodes: [0, 2]}", "placement.nodes[1]",
                "is 2; must be from 0 to 1"},
        JobCase{"placement: {nodes: [1, 1]}", "placement.nodes[1]",
                "is 1, as is nodes[0]"}));

TEST(ReadQuestion, AJobNeedsAModelATrainingAndACluster) {
  prism::v1::Question message;
  message.mutable_job();
  EXPECT_THAT(Fields(Problems(message)),
              ElementsAre("job.model", "job.training", "cluster"));
}

TEST(ReadQuestion, AClusterIsNamedOrGiven) {
  auto message = ExampleJob();
  message.set_cluster_name("west");
  EXPECT_THAT(Fields(Problems(message)), ElementsAre("cluster_name"));
  message.clear_cluster();
  EXPECT_THAT(Fields(Problems(message)), ElementsAre("cluster_name"));
  auto profile = ExampleProfile();
  profile.set_cluster_name("west");
  EXPECT_THAT(Fields(Problems(profile)), ElementsAre("cluster_name"));
}

TEST(ReadQuestion, RequiredNumbersOfAJobAreNamed) {
  EXPECT_THAT(
      Fields(Problems(Parse("job: {model: {}, training: {}}\ncluster: {}"))),
      IsSupersetOf({"job.model.layers", "job.model.hidden", "job.model.heads",
                    "job.model.vocabulary", "job.training.sequence",
                    "job.training.global_batch", "cluster.accelerator",
                    "cluster.nodes"}));
}

TEST(ReadQuestion, AJobMayFillItsLastNodeInPart) {
  auto message = ExampleJob();
  message.mutable_job()->mutable_parallelism()->set_data(3);
  message.mutable_job()->mutable_training()->set_global_batch(60);
  EXPECT_THAT(Problems(message), testing::IsEmpty());
}

}  // namespace
}  // namespace prism::query
