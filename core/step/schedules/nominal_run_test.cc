#include "core/step/schedules/nominal_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/step/schedules/generators.h"
#include "core/step/schedules/placement.h"

namespace prism::step {
namespace {

using testing::ElementsAre;

constexpr auto F = Phase::kForward, B = Phase::kBackward,
               I = Phase::kBackwardInput, W = Phase::kBackwardWeight;

NominalRun Nominal(const PipelineOrder& order, const OperationTimes& times) {
  auto run = RunNominally(order, times);
  EXPECT_TRUE(run.ok()) << run.status();
  return run.ok() ? *std::move(run) : NominalRun{};
}

TEST(RunNominallyTest, WaitsForTheHopAndTheStage) {
  const auto order = GpipeOrder(2, 2);
  const auto run = Nominal(order, {{1, 2}, {3, 4}, {0.5, 0.25}, {10}});
  EXPECT_THAT(run.stages[0].start, ElementsAre(0, 1, 29.25, 33.5));
  EXPECT_THAT(run.stages[1].start, ElementsAre(11, 13, 15, 19.25));
  EXPECT_EQ(run.seconds, 37);
  EXPECT_EQ(run.stages[0].idle(), 37 - 9);
  EXPECT_EQ(run.stages[1].span(), 23.5 - 11);
  EXPECT_EQ(LongestIdle(run), 28);
}

// One micro-batch on two stages.
PipelineOrder TwoStages(std::vector<Operation> first,
                        std::vector<Operation> last) {
  PipelineOrder order = LoopedPlacement(2, 1, 1);
  order.operations = {std::move(first), std::move(last)};
  EXPECT_TRUE(Validate(order).ok()) << Validate(order);
  return order;
}

TEST(RunNominallyTest, TheGradientLeavesAfterTheInputPart) {
  const auto order = TwoStages({{F, 0, 0}, {I, 0, 0}, {W, 0, 0}},
                               {{F, 1, 0}, {I, 1, 0}, {W, 1, 0}});
  EXPECT_THAT(Nominal(order, UniformTimes(order, {})).stages[0].start,
              ElementsAre(0, 3, 4));
}

TEST(RunNominallyTest, AWholeBackwardsGradientLeavesAtItsEnd) {
  const auto order =
      TwoStages({{F, 0, 0}, {I, 0, 0}, {W, 0, 0}}, {{F, 1, 0}, {B, 1, 0}});
  EXPECT_THAT(Nominal(order, UniformTimes(order, {})).stages[0].start,
              ElementsAre(0, 4, 5));
}

TEST(RunNominallyTest, AChainNeitherWaitsForNorFeedsAnother) {
  PipelineOrder order = LoopedPlacement(1, 2, 2);
  order.chains = 2;
  order.operations = {{{F, 1, 1}, {B, 1, 1}, {F, 0, 0}, {B, 0, 0}}};
  EXPECT_EQ(Nominal(order, {{1, 2}, {1, 2}, {1, 2}, {100}}).seconds, 9);
}

TEST(UniformTimesTest, TheTurnOfAVTakesNoHop) {
  EXPECT_THAT(UniformTimes(VPlacement(3, 1), {1, 1, 1, 7}).hop,
              ElementsAre(7, 7, 0, 7, 7));
}

}  // namespace
}  // namespace prism::step
