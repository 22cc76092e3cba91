#include "core/query/predict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "core/query/document.h"
#include "core/query/example_questions.h"

namespace prism::query {
namespace {

using prism::v1::Prediction;

Question Read(const prism::v1::Question& message) {
  base::Violations violations;
  auto question = ReadQuestion(message, "", violations);
  for (const auto& v : violations.list()) {
    ADD_FAILURE() << v.field << ": " << v.description;
  }
  return question.value_or(Question());
}

Prediction Answer(const prism::v1::Question& message) {
  base::UnlimitedBudget budget;
  base::InlineExecutor executor;
  const auto prediction = Predict(Read(message), budget, executor);
  EXPECT_TRUE(prediction.ok()) << prediction.status();
  return prediction.value_or(Prediction());
}

double BreakdownSum(const Prediction& prediction) {
  double sum = 0;
  for (const auto& entry : prediction.breakdown()) sum += entry.seconds();
  return sum;
}

TEST(Predict, ProfileGivesTimesInSeconds) {
  const Prediction p = Answer(ExampleProfile());
  // (m + p - 1) operations of 2.4 ms and 2.125 ms, hops and closing.
  EXPECT_GT(p.nominal_step_seconds(), 0.02);
  EXPECT_LT(p.nominal_step_seconds(), 0.04);
  EXPECT_GE(p.step_time().mean_seconds(), p.nominal_step_seconds());
  EXPECT_LT(p.step_time().quantiles().p01(), p.step_time().quantiles().p99());
  EXPECT_GT(p.step_time().standard_deviation_seconds(), 0);
}

TEST(Predict, SaysHowItWasSampled) {
  const Prediction p = Answer(ExampleProfile());
  EXPECT_EQ(p.sampling().samples(), 1000u);
  EXPECT_GT(p.sampling().standard_error().p50(), 0);
  EXPECT_EQ(p.method(), prism::v1::METHOD_MONTECARLO);
  EXPECT_EQ(p.quality(), prism::v1::QUALITY_EXACT);
  EXPECT_EQ(p.model_version(), ModelVersion());
}

TEST(Predict, SaysHowMuchCommunicationIsHidden) {
  prism::v1::Question message = ExampleProfile();
  message.set_method(prism::v1::METHOD_AUTO);
  auto& layer = *message.mutable_profile()->mutable_backward(0);
  layer.set_count(4);
  layer.mutable_scatter()->set_constant(1);
  const Prediction p = Answer(message);
  EXPECT_NEAR(BreakdownSum(p), p.nominal_step_seconds(), 1e-12);
  for (const auto& entry : p.breakdown()) {
    if (entry.kind() != "data_communication") continue;
    // The last of 16 scatters, and the 5 ms of gradient_sync.
    EXPECT_NEAR(entry.seconds(), 1e-3 + 5e-3, 1e-12);
    EXPECT_NEAR(entry.busy_seconds(), 16e-3 + 5e-3, 1e-12);
    // Scatters are constant and their stage's computation is never waited for.
    EXPECT_NEAR(entry.mean_busy_seconds(), 16e-3 + 5e-3, 1e-12);
    EXPECT_GE(entry.mean_seconds(), 1e-3);
  }
  EXPECT_EQ(p.method(), prism::v1::METHOD_MONTECARLO);
}

TEST(Predict, SaysThatMonteCarloAnsweredWhereCommunicationRunsBeside) {
  using prism::v1::Segment;
  const std::pair<const char*, void (*)(Segment&)> keys[] = {
      {"none", [](Segment&) {}},
      {"gather", [](Segment& s) { s.mutable_gather()->set_constant(1); }},
      {"scatter", [](Segment& s) { s.mutable_scatter()->set_constant(1); }},
      {"overlap", [](Segment& s) {
         s.set_overlap(true);
         s.mutable_collective()->set_constant(1);
       }}};
  for (const auto& [key, set] : keys) {
    prism::v1::Question message = ExampleProfile();
    message.set_method(prism::v1::METHOD_AUTO);
    // Without the streams, structure answers.
    message.mutable_profile()->mutable_layout()->set_tensor(1);
    *message.mutable_profile()->mutable_backward(0)->mutable_compute() =
        message.profile().forward(0).compute();
    set(*message.mutable_profile()->mutable_forward(0));
    EXPECT_EQ(Answer(message).method(), std::string(key) == "none"
                                            ? prism::v1::METHOD_AUTO
                                            : prism::v1::METHOD_MONTECARLO)
        << key;
  }
}

TEST(Predict, MeansByKindAreThereWhereCommunicationRunsBesideComputation) {
  prism::v1::Question message = ExampleProfile();
  EXPECT_FALSE(Answer(message).breakdown(0).has_mean_seconds());
  auto& layer = *message.mutable_profile()->mutable_backward(0);
  layer.mutable_scatter()->set_constant(1);
  const Prediction p = Answer(message);
  double mean = 0;
  for (const auto& entry : p.breakdown()) mean += entry.mean_seconds();
  // Of the first 256 of 1000 steps; the error of their mean, five times.
  EXPECT_NEAR(mean, p.step_time().mean_seconds(),
              5 * p.step_time().standard_deviation_seconds() / 16);
}

TEST(Predict, ProfileIsFeasibleAndHasNoMemory) {
  const Prediction p = Answer(ExampleProfile());
  EXPECT_TRUE(p.feasible());
  EXPECT_FALSE(p.has_memory());
}

TEST(Predict, BreakdownSumsToTheNominalStep) {
  const Prediction profile = Answer(ExampleProfile());
  EXPECT_NEAR(BreakdownSum(profile), profile.nominal_step_seconds(), 1e-9);
  const Prediction job = Answer(ExampleJob());
  EXPECT_NEAR(BreakdownSum(job), job.nominal_step_seconds(), 1e-9);
}

TEST(Predict, JobFiguresAgreeWithTheMedian) {
  const Prediction p = Answer(ExampleJob());
  const double median = p.step_time().quantiles().p50();
  ASSERT_GT(median, 0);
  EXPECT_DOUBLE_EQ(p.tokens_per_second(), 2048.0 * 64 / median);
  EXPECT_GT(p.model_flops_utilization(), 0);
  EXPECT_LT(p.model_flops_utilization(), 1);
  // A100: 312e12 dense bf16 FLOP/s.
  EXPECT_NEAR(p.tflops_per_gpu(), p.model_flops_utilization() * 312, 0.01);
}

TEST(Predict, MemoryPartsSumToThePeak) {
  const auto memory = Answer(ExampleJob()).memory();
  double sum = 0;
  for (const auto& part : memory.parts()) sum += part.bytes();
  EXPECT_DOUBLE_EQ(sum, memory.peak_bytes_per_gpu());
  EXPECT_EQ(memory.parts_size(), 7);
}

TEST(Predict, AJobThatDoesNotFitSaysWhy) {
  auto message = ExampleJob();
  message.mutable_job()->mutable_model()->set_hidden(32768);
  const Prediction p = Answer(message);
  EXPECT_FALSE(p.feasible());
  EXPECT_FALSE(p.infeasible_reason().empty());
  EXPECT_GT(p.step_time().mean_seconds(), 0);
}

struct JobVariant {
  const char* name;
  const char* overrides;  // of ExampleJob's job
};

class PredictVariant : public testing::TestWithParam<JobVariant> {};

TEST_P(PredictVariant, IsAnsweredUnlikeThePlainJob) {
  auto message = ExampleJob();
  prism::v1::Job changes;
  base::Violations violations;
  ReadDocument(GetParam().overrides, &changes, violations);
  ASSERT_TRUE(violations.empty()) << violations.list()[0].description;
  message.mutable_job()->MergeFrom(changes);
  const Prediction p = Answer(message);
  EXPECT_TRUE(p.feasible()) << p.infeasible_reason();
  EXPECT_GT(p.nominal_step_seconds(), 0);
  EXPECT_NE(p.nominal_step_seconds(),
            Answer(ExampleJob()).nominal_step_seconds());
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, PredictVariant,
    testing::Values(
        JobVariant{"Ring", "parallelism: {data: 2, context: 2}"},
        JobVariant{"AllGather",
                   "parallelism: {data: 2, context: 2, "
                   "context_kind: all-gather}"},
        JobVariant{"AllToAll",
                   "parallelism: {data: 2, context: 2, "
                   "context_kind: all-to-all}"},
        JobVariant{"Zero2", "parallelism: {sharding: zero2}"},
        JobVariant{"Zero3", "parallelism: {sharding: zero3}"},
        JobVariant{"Hybrid", "parallelism: {sharding: zero3, shard_group: 2}"},
        JobVariant{"Uneven", "parallelism: {stage_layers: [10, 14]}"},
        JobVariant{"OverlapGradients",
                   "parallelism: {overlap: {gradients: true}}"},
        JobVariant{"SomeRecomputed",
                   "training: {recompute: full, recompute_layers: 3}"},
        JobVariant{"MegatronCore", "training: {framework: megatron-core}"},
        JobVariant{"Fsdp", "training: {framework: fsdp}"},
        JobVariant{"Torchtitan", "training: {framework: torchtitan}"},
        JobVariant{"Compiled",
                   "training: {framework: torchtitan, compiled: true}"},
        JobVariant{"WithoutDropout", "training: {dropout: false}"},
        JobVariant{"FusedLoss", "training: {fused_cross_entropy: true}"},
        JobVariant{"Offloaded", "training: {offload_optimizer: true}"},
        JobVariant{"OffloadedActivations",
                   "training: {offload_activations: 0.5}"},
        JobVariant{"KeptMicrobatches",
                   "training: {recompute: full, keep_microbatches: 1}"},
        JobVariant{"BreadthFirst",
                   "parallelism: {schedule: breadth-first, virtual_stages: 3}"},
        JobVariant{"ZeroBubbleH1", "parallelism: {schedule: zb-h1}"},
        JobVariant{"ZeroBubbleH2", "parallelism: {schedule: zb-h2}"},
        JobVariant{"ZeroBubbleV", "parallelism: {schedule: zb-v}"},
        JobVariant{"HalfMemoryV", "parallelism: {schedule: v-half}"},
        JobVariant{"ThirdMemoryV", "parallelism: {schedule: v-min}"},
        JobVariant{"DualPipe", "parallelism: {schedule: dualpipe}"},
        JobVariant{"DualPipeV", "parallelism: {schedule: dualpipe-v}"},
        JobVariant{"ZeroBubbleAuto",
                   "parallelism: {schedule: zb-auto, activation_limit: 3}"}),
    [](const auto& variant) { return std::string(variant.param.name); });

TEST(Predict, FasterNodesLowerTheFloor) {
  auto message = ExampleJob();
  for (const uint32_t node : {0u, 1u}) {
    auto* state = message.mutable_cluster()->add_node_states();
    state->set_node(node);
    state->set_slowdown(0.01);
  }
  EXPECT_LT(Answer(message).nominal_step_seconds(),
            Answer(ExampleJob()).nominal_step_seconds());
}

TEST(Predict, SameQuestionSameBitsOnAnyNumberOfThreads) {
  base::UnlimitedBudget budget;
  base::ThreadExecutor two(2);
  const auto threaded = Predict(Read(ExampleProfile()), budget, two);
  ASSERT_TRUE(threaded.ok());
  EXPECT_EQ(threaded->SerializeAsString(),
            Answer(ExampleProfile()).SerializeAsString());
}

class CancelledBudget final : public base::Budget {
 public:
  bool Cancelled() const override { return true; }
  absl::Duration Elapsed() const override { return absl::ZeroDuration(); }
  absl::Duration Remaining() const override { return absl::InfiniteDuration(); }
};

TEST(Predict, ACancelledQuestionIsNotAnswered) {
  CancelledBudget budget;
  base::InlineExecutor executor;
  EXPECT_TRUE(absl::IsCancelled(
      Predict(Read(ExampleProfile()), budget, executor).status()));
}

// No question can be asked whose result is infinite, so it is built by hand.
TEST(Predict, AResultThatIsNotFiniteIsAnInternalError) {
  Question question = Read(ExampleProfile());
  std::get<step::StepProfile>(question.subject).optimizer =
      stats::Distribution::MakeConstant(
          std::numeric_limits<double>::infinity());
  base::UnlimitedBudget budget;
  base::InlineExecutor executor;
  EXPECT_TRUE(absl::IsInternal(Predict(question, budget, executor).status()));
}

}  // namespace
}  // namespace prism::query
