#include "client/validate/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/validate/questions.h"

namespace prism::validate {
namespace {

namespace v1 = prism::v1;
using ::testing::HasSubstr;

// The 22B model of arXiv 2205.05198 on eight GPUs.
Measured RunOf(Quantity quantity, double value) {
  Measured measured;
  measured.quantity = quantity;
  measured.value = value;
  v1::Job& job = *measured.question.mutable_job();
  *job.mutable_model() = GptModel(48, 6144, 64, 51200, 2048);
  job.mutable_parallelism()->set_tensor(8);
  v1::Training& training = *job.mutable_training();
  training.set_sequence(2048);
  training.set_global_batch(4);
  training.set_micro_batch(4);
  training.set_precision(v1::PRECISION_FP16);
  training.set_recompute(v1::RECOMPUTE_FULL);
  training.set_attention(v1::ATTENTION_UNFUSED);
  *measured.question.mutable_cluster() = ClusterOf("a100-80gb-sxm", 8, 8);
  return measured;
}

double Predicted(Quantity quantity) {
  const auto outcome = Evaluate(RunOf(quantity, 1), {});
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  return outcome.ok() ? outcome->predicted : 0;
}

double MeasuredSeconds(Quantity quantity, double value) {
  const auto outcome = Evaluate(RunOf(quantity, value), {});
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  return outcome.ok() ? outcome->measured : 0;
}

TEST(EvaluateTest, ALayerIsAFractionOfTheStep) {
  const double step = Predicted(Quantity::kStep);
  const double forward = Predicted(Quantity::kLayerForward);
  const double backward = Predicted(Quantity::kLayerBackward);
  EXPECT_GT(backward, forward);
  // Besides layers there are embedding, head and optimizer.
  EXPECT_GT(step, 48 * (forward + backward));
  EXPECT_LT(step, 60 * (forward + backward));
}

TEST(EvaluateTest, ParametersAndMemoryAreThoseOfTheModel) {
  // 12 L h^2 (1 + 13/(12 h) + (V + s)/(12 L h)), and the last norm.
  EXPECT_NEAR(
      Predicted(Quantity::kParameters),
      48.0 * 12 * 6144 * 6144 + 48.0 * 13 * 6144 + (51200 + 2048 + 2) * 6144.0,
      1);
  // At least 16 bytes a parameter on eight GPUs, and no more than there is.
  EXPECT_GT(Predicted(Quantity::kPeakMemory), 16 * 22.4e9 / 8);
  EXPECT_LT(Predicted(Quantity::kPeakMemory), 80e9);
}

TEST(EvaluateTest, UtilisationsAreStepsOfThatManyFlops) {
  // 72 B s L h^2 (1 + s/(6 h) + V/(12 L h)).
  const double flops = 72.0 * 4 * 2048 * 48 * 6144 * 6144 *
                       (1 + 2048 / (6 * 6144.0) + 51200 / (12 * 48 * 6144.0));
  EXPECT_NEAR(MeasuredSeconds(Quantity::kModelFlops, 100), flops / (8 * 100e12),
              1e-6);
  // 96 B s L h^2 (1 + s/(6 h) + V/(16 L h)).
  const double executed =
      96.0 * 4 * 2048 * 48 * 6144 * 6144 *
      (1 + 2048 / (6 * 6144.0) + 51200 / (16 * 48 * 6144.0));
  EXPECT_NEAR(MeasuredSeconds(Quantity::kExecutedFlops, 100),
              executed / (8 * 100e12), 1e-6);
  EXPECT_EQ(MeasuredSeconds(Quantity::kStep, 1.5), 1.5);
}

TEST(EvaluateTest, WhatTheModelDoesNotKnowIsUnimplemented) {
  Measured measured = RunOf(Quantity::kStep, 1);
  measured.not_covered = "a mixture of experts";
  const absl::Status status = Evaluate(measured, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(), "a mixture of experts");
}

TEST(EvaluateTest, AQuestionThatIsWrongIsRefusedWithEveryReason) {
  Measured measured = RunOf(Quantity::kStep, 1);
  measured.question.mutable_job()->mutable_model()->set_heads(63);
  measured.question.mutable_cluster()->set_accelerator("a101");
  const absl::Status status = Evaluate(measured, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cluster.accelerator"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("job.model"));
}

}  // namespace
}  // namespace prism::validate
