#include "core/step/schedules/weight_filling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <tuple>

#include "core/step/schedules/generators.h"

namespace prism::step {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Start of every forward and backward, by phase, virtual stage, micro-batch.
std::map<std::tuple<Phase, int, int>, double> Starts(
    const PipelineOrder& order, const OperationTimes& times) {
  std::map<std::tuple<Phase, int, int>, double> starts;
  const auto run = RunNominally(order, times);
  EXPECT_TRUE(run.ok()) << run.status();
  if (!run.ok()) return starts;
  for (int s = 0; s < order.stages(); ++s) {
    for (size_t k = 0; k < order.operations[s].size(); ++k) {
      const Operation& op = order.operations[s][k];
      if (op.phase == Phase::kBackwardWeight) continue;
      starts[{op.phase, op.virtual_stage, op.microbatch}] =
          run->stages[s].start[k];
    }
  }
  return starts;
}

TEST(FillWithWeightsTest, DelaysNoForwardAndNoBackward) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> real(0.2, 3);
  for (int i = 0; i < 300; ++i) {
    const int p = 1 + random() % 6, m = 1 + random() % 15;
    const PipelineOrder order =
        random() % 2 == 0 ? ZeroBubbleH2Order(p, m) : ZeroBubbleVOrder(p, m);
    const OperationTimes times = UniformTimes(
        order, {real(random), real(random), real(random), real(random)});
    const std::vector<ActivationSize> sizes(order.stage_of.size());
    const PipelineOrder filled =
        FillWithWeights(order, times, sizes, kInfinite, 0);
    ASSERT_TRUE(Validate(filled).ok());
    const auto before = Starts(order, times), after = Starts(filled, times);
    for (const auto& [what, start] : before) {
      ASSERT_LE(after.at(what), start + 1e-9);
    }
  }
}

TEST(FillWithWeightsTest, RunsWeightPartsBeforeMemoryIsExceeded) {
  const int p = 4;
  const PipelineOrder order = ZeroBubbleH1Order(p, 12);
  const std::vector<ActivationSize> sizes(p, {1, 1});
  // Hops so short against weight parts that none would fit a gap.
  const OperationTimes times = UniformTimes(order, {1, 1, 50, 0});
  const auto free = FillWithWeights(order, times, sizes, kInfinite, 0);
  const auto kept = FillWithWeights(order, times, sizes, p, 0);
  const auto most = [&](const PipelineOrder& o) {
    const auto peaks = PeakActivations(o, sizes);
    return *std::max_element(peaks.begin(), peaks.end());
  };
  EXPECT_GT(most(free), p);
  EXPECT_LE(most(kept), p);
}

// Stage 0 waits 2 for the last backward; a weight part of 3 overruns by 1.
TEST(FillWithWeightsTest, OverrunsByItsShare) {
  const PipelineOrder order = ZeroBubbleH1Order(2, 2);
  const OperationTimes times = UniformTimes(order, {1, 3, 4, 0});
  const std::vector<ActivationSize> sizes(2, {1, 1});
  auto weight_is_last = [&](double overrun) {
    const auto filled =
        FillWithWeights(order, times, sizes, kInfinite, overrun);
    return filled.operations[0][4].phase == Phase::kBackwardWeight &&
           filled.operations[0][3].phase == Phase::kBackwardInput;
  };
  EXPECT_TRUE(weight_is_last(0));
  EXPECT_FALSE(weight_is_last(1));
}

}  // namespace
}  // namespace prism::step
