#include "core/query/read_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/violations.h"
#include "core/query/document.h"

namespace prism::query {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using workload::ContextKind;
using workload::Framework;
using workload::Overlap;
using workload::Sharding;

prism::v1::Job Parse(const std::string& yaml) {
  prism::v1::Job job;
  base::Violations violations;
  ReadDocument(yaml, &job, violations);
  EXPECT_TRUE(violations.empty()) << yaml;
  return job;
}

prism::v1::Job Example(const std::string& overrides) {
  prism::v1::Job job = Parse(R"(
model: {layers: 24, hidden: 1024, heads: 16, vocabulary: 51200}
parallelism: {tensor: 2, pipeline: 4, data: 4}
training: {sequence: 2048, global_batch: 64, micro_batch: 2}
)");
  job.MergeFrom(Parse(overrides));
  return job;
}

std::vector<base::Violation> ProblemsOf(const std::string& overrides) {
  base::Violations violations;
  Checker checker(violations);
  ReadJob(Example(overrides), FieldPath("job"), checker);
  return violations.list();
}

workload::Job Read(const std::string& overrides) {
  EXPECT_THAT(ProblemsOf(overrides), IsEmpty()) << overrides;
  base::Violations violations;
  Checker checker(violations);
  return ReadJob(Example(overrides), FieldPath("job"), checker);
}

TEST(ReadJob, RanksOfContextGroupsCount) {
  const auto split = Read("parallelism: {context: 4}").parallelism;
  EXPECT_EQ(split.gpus(), 2 * 4 * 4 * 4);
  EXPECT_EQ(split.gradient_ranks(), 16);
  EXPECT_EQ(split.context_kind, ContextKind::kRing);
}

TEST(ReadJob, ContextKindOfOneRankSaysNothing) {
  EXPECT_EQ(
      Read("parallelism: {context_kind: all-to-all}").parallelism.context_kind,
      ContextKind::kRing);
  EXPECT_EQ(Read("parallelism: {context: 2, context_kind: all-to-all}")
                .parallelism.context_kind,
            ContextKind::kAllToAll);
}

struct FrameworkCase {
  const char* word;
  Framework framework;
  Sharding sharding;
  Overlap overlap;
  bool fp32_gradients;
  bool dropout;
};

class ReadFramework : public testing::TestWithParam<FrameworkCase> {};

TEST_P(ReadFramework, FillsInItsDefaults) {
  const FrameworkCase& expected = GetParam();
  const auto job =
      Read(std::string("training: {framework: ") + expected.word + "}");
  EXPECT_EQ(job.training.framework, expected.framework);
  EXPECT_EQ(job.parallelism.sharding, expected.sharding);
  EXPECT_EQ(job.parallelism.overlap, expected.overlap);
  EXPECT_EQ(job.training.fp32_gradients, expected.fp32_gradients);
  EXPECT_EQ(job.training.dropout, expected.dropout);
}

INSTANTIATE_TEST_SUITE_P(
    All, ReadFramework,
    testing::Values(FrameworkCase{"megatron-lm",
                                  Framework::kMegatronLm,
                                  Sharding::kNone,
                                  {.tensor = true},
                                  true,
                                  true},
                    FrameworkCase{"megatron-core",
                                  Framework::kMegatronCore,
                                  Sharding::kNone,
                                  {},
                                  true,
                                  false},
                    FrameworkCase{"fsdp",
                                  Framework::kFsdp,
                                  Sharding::kZero3,
                                  {.gradients = true, .parameters = true},
                                  false,
                                  false},
                    FrameworkCase{"torchtitan",
                                  Framework::kTorchtitan,
                                  Sharding::kZero3,
                                  {.gradients = true, .parameters = true},
                                  true,
                                  false}));

TEST(ReadJob, GivenSwitchesStandAboveDefaults) {
  const auto job = Read(R"(
training: {framework: fsdp, fp32_gradients: true, dropout: true,
           fused_cross_entropy: true}
parallelism: {sharding: zero2, overlap: {gradients: false, tensor: true}}
)");
  EXPECT_EQ(job.parallelism.sharding, Sharding::kZero2);
  EXPECT_EQ(job.parallelism.overlap,
            (Overlap{.parameters = true, .tensor = true}));
  EXPECT_TRUE(job.training.fp32_gradients);
  EXPECT_TRUE(job.training.dropout);
  EXPECT_TRUE(job.training.fused_cross_entropy);
}

TEST(ReadJob, InterleavedMegatronCoreSendsBesideComputation) {
  const auto job = Read(R"(
training: {framework: megatron-core}
parallelism: {virtual_stages: 2}
)");
  EXPECT_EQ(job.parallelism.overlap, Overlap{.pipeline = true});
}

TEST(ReadJob, FourBitProductsHaveA32BitSumInMegatronCore) {
  EXPECT_TRUE(Read("training: {framework: megatron-core, precision: fp4}")
                  .training.fp32_gradients);
  EXPECT_FALSE(Read("training: {precision: fp4}").training.fp32_gradients);
}

TEST(ReadJob, StageLayersAreTaken) {
  EXPECT_THAT(Read("parallelism: {stage_layers: [0, 8, 9, 7]}")
                  .parallelism.stage_layers,
              ElementsAre(0, 8, 9, 7));
}

TEST(ReadJob, StagesAllAlikeAreNotListed) {
  EXPECT_THAT(Read("parallelism: {stage_layers: [6, 6, 6, 6]}")
                  .parallelism.stage_layers,
              IsEmpty());
}

TEST(ReadJob, EmbeddingAndHeadCountAsLayers) {
  EXPECT_THAT(Read(R"(
model: {layers: 26}
parallelism: {embedding_as_layer: true, head_as_layer: true}
)")
                  .parallelism.stage_layers,
              ElementsAre(6, 7, 7, 6));
  EXPECT_THAT(Read("model: {layers: 7}\nparallelism: {virtual_stages: 2, "
                   "head_as_layer: true}")
                  .parallelism.stage_layers,
              ElementsAre(1, 1, 1, 1, 1, 1, 1, 0));
}

TEST(ReadJob, ShardGroupOfAllRanksIsNoGroup) {
  const auto whole =
      Read("parallelism: {sharding: zero3, context: 2, shard_group: 8}");
  EXPECT_EQ(whole.parallelism.shard_group, 0);
  EXPECT_EQ(whole.parallelism.shards(), 8);
  const auto half =
      Read("parallelism: {sharding: zero3, context: 2, shard_group: 4}");
  EXPECT_EQ(half.parallelism.shards(), 4);
  EXPECT_EQ(Read("{}").parallelism.shards(), 1);
}

TEST(ReadJob, RecomputingEveryLayerIsNoLimit) {
  const std::string full = "training: {recompute: full, recompute_layers: ";
  EXPECT_EQ(Read(full + "5}").training.recompute_layers, 5);
  EXPECT_EQ(Read(full + "6}").training.recompute_layers, std::nullopt);
}

struct WrongCase {
  std::string overrides;
  std::string field;
  std::string description;  // a part of it
};

class WrongSplit : public testing::TestWithParam<WrongCase> {};

TEST_P(WrongSplit, NamesFieldValueAndWhatIsAccepted) {
  const auto problems = ProblemsOf(GetParam().overrides);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].field, GetParam().field);
  EXPECT_THAT(problems[0].description, HasSubstr(GetParam().description));
}

INSTANTIATE_TEST_SUITE_P(
    Context, WrongSplit,
    testing::Values(
        WrongCase{"parallelism: {context: 3}", "job.training.sequence",
                  "is 2048; must be divisible by parallelism.context, which "
                  "is 3"},
        WrongCase{"parallelism: {context: 1024, sequence_parallel: true, "
                  "tensor: 16}",
                  "job.training.sequence",
                  "must be divisible by parallelism.tensor * context, which "
                  "is 16384"},
        WrongCase{"parallelism: {context: 16, context_kind: all-to-all}",
                  "job.model.heads",
                  "is 16; must be divisible by parallelism.tensor * context "
                  "with context_kind all-to-all, which is 32"},
        WrongCase{"parallelism: {data: 65536, context: 2048}\n"
                  "training: {global_batch: 131072}",
                  "job.parallelism",
                  "2 * 2048 * 4 * 65536 ranks (tensor * context * pipeline * "
                  "data); must be at most 1048576"}));

INSTANTIATE_TEST_SUITE_P(
    Stages, WrongSplit,
    testing::Values(
        WrongCase{"parallelism: {stage_layers: [12, 12]}",
                  "job.parallelism.stage_layers",
                  "has 2 numbers; must have pipeline * virtual_stages, which "
                  "is 4"},
        WrongCase{"parallelism: {stage_layers: [6, 6, 6, 7]}",
                  "job.parallelism.stage_layers",
                  "sums to 25; must sum to model.layers, which is 24"},
        WrongCase{"parallelism: {stage_layers: [6, 0, 12, 6]}",
                  "job.parallelism.stage_layers[1]",
                  "is 0; must be at least 1"},
        WrongCase{"parallelism: {stage_layers: [5, 6, 7, 6], head_as_layer: "
                  "true}",
                  "job.parallelism.stage_layers", "not allowed together"},
        WrongCase{"parallelism: {embedding_as_layer: true}",
                  "job.parallelism.embedding_as_layer",
                  "makes 25 layers; must be divisible by pipeline * "
                  "virtual_stages, which is 4"},
        WrongCase{"parallelism: {head_as_layer: true}",
                  "job.parallelism.head_as_layer", "makes 25 layers"}));

INSTANTIATE_TEST_SUITE_P(
    Sharding, WrongSplit,
    testing::Values(WrongCase{"parallelism: {shard_group: 2}",
                              "job.parallelism.shard_group",
                              "is not allowed unless sharding is"},
                    WrongCase{"parallelism: {sharding: zero1, shard_group: 3}",
                              "job.parallelism.shard_group",
                              "is 3; must divide data * context, which is 4"}));

INSTANTIATE_TEST_SUITE_P(
    Recomputation, WrongSplit,
    testing::Values(WrongCase{"training: {recompute_layers: 2}",
                              "job.training.recompute_layers",
                              "is not allowed unless recompute is full"},
                    WrongCase{
                        "training: {recompute: full, recompute_layers: 10001}",
                        "job.training.recompute_layers",
                        "is 10001; must be from 1 to 10000"}));

}  // namespace
}  // namespace prism::query
