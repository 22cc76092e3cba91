#include "core/completion/checkpoint_choice.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/completion/closed_forms.h"

namespace prism::completion {
namespace {

RunPlan Plan() {
  RunPlan plan;
  plan.steps = 1'000'000;
  plan.step.mean_seconds = 2;
  plan.failures = {.nodes = 1000, .per_node_day = 0.01};
  plan.checkpoints.blocking_seconds = 20;
  return plan;
}

TEST(CheckpointChoice, KnownRateHasTheClosedForm) {
  const CheckpointChoice choice = ChooseCheckpoints(Plan());
  const double rate = 10 / kSecondsPerDay;
  EXPECT_NEAR(choice.best_seconds, ExactInterval(rate, 20), 1e-3);
  EXPECT_DOUBLE_EQ(choice.first_order_seconds, FirstOrderInterval(rate, 20));
  EXPECT_EQ(choice.steps, std::llround(choice.best_seconds / 2));
}

// The expected cost over an uncertain rate is convex in it, so high rates
// weigh more and the interval is the shorter one, within those for its ends.
TEST(CheckpointChoice, UncertainRateIsAveragedOver) {
  RunPlan plan = Plan();
  plan.failures.level_cv = 1;
  const double best = ChooseCheckpoints(plan).best_seconds;
  EXPECT_LT(best, ExactInterval(0.5 * 10 / kSecondsPerDay, 20));
  EXPECT_GT(best, ExactInterval(4 * 10 / kSecondsPerDay, 20));
}

TEST(CheckpointChoice, StatedIntervalsAreKept) {
  RunPlan plan = Plan();
  plan.checkpoints.choice = Checkpoints::Choice::kSteps;
  plan.checkpoints.interval_steps = 123;
  EXPECT_EQ(ChooseCheckpoints(plan).steps, 123);
  plan.checkpoints.choice = Checkpoints::Choice::kSeconds;
  plan.checkpoints.interval_seconds = 301;
  EXPECT_EQ(ChooseCheckpoints(plan).steps, 151);
  plan.checkpoints.choice = Checkpoints::Choice::kNone;
  EXPECT_EQ(ChooseCheckpoints(plan).steps, 0);
  EXPECT_TRUE(std::isinf(ChooseCheckpoints(plan).seconds));
}

TEST(CheckpointChoice, NoneWhereNothingFails) {
  RunPlan plan = Plan();
  plan.failures.per_node_day = 0;
  EXPECT_EQ(ChooseCheckpoints(plan).steps, 0);
  EXPECT_TRUE(std::isinf(ChooseCheckpoints(plan).best_seconds));
}

TEST(CheckpointChoice, WaitsForTheWriteBefore) {
  RunPlan plan = Plan();
  plan.checkpoints.choice = Checkpoints::Choice::kSteps;
  plan.checkpoints.interval_steps = 1;
  plan.checkpoints.non_blocking_seconds = 31;
  EXPECT_EQ(ChooseCheckpoints(plan).steps, 16);
}

TEST(CheckpointChoice, FreeWritesComeEachStep) {
  RunPlan plan = Plan();
  plan.checkpoints.blocking_seconds = 0;
  EXPECT_EQ(ChooseCheckpoints(plan).steps, 1);
}

TEST(CheckpointChoice, EvaluationsCountAsWork) {
  RunPlan plan = Plan();
  plan.evaluations = {.every_steps = 10,
                      .seconds = stats::Distribution::MakeConstant(20)};
  plan.checkpoints.choice = Checkpoints::Choice::kSeconds;
  plan.checkpoints.interval_seconds = 400;
  EXPECT_EQ(ChooseCheckpoints(plan).steps, 100);
}

// The whole range of rates and writes gives an interval that can be used.
TEST(CheckpointChoice, ExtremesStayInRange) {
  for (double rate : {1e-12, 1e-3, 1e3, 1e9}) {
    for (double write : {0.0, 1e-9, 1.0, 1e9}) {
      for (double cv : {0.0, 1.0, 10.0}) {
        RunPlan plan = Plan();
        plan.failures.per_node_day = rate;
        plan.failures.level_cv = cv;
        plan.checkpoints.blocking_seconds = write;
        const CheckpointChoice choice = ChooseCheckpoints(plan);
        EXPECT_GE(choice.best_seconds, 2) << rate << " " << write << " " << cv;
        EXPECT_GE(choice.steps, 0);
        EXPECT_LE(choice.steps, plan.steps);
      }
    }
  }
}

}  // namespace
}  // namespace prism::completion
