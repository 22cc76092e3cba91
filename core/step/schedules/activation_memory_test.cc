#include "core/step/schedules/activation_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/step/schedules/generators.h"

namespace prism::step {
namespace {

using testing::ElementsAre;

constexpr auto F = Phase::kForward, B = Phase::kBackward,
               I = Phase::kBackwardInput, W = Phase::kBackwardWeight;

PipelineOrder OneStage(std::vector<Operation> operations) {
  PipelineOrder order;
  order.microbatches = 2;
  order.stage_of = {0};
  order.operations = {std::move(operations)};
  return order;
}

TEST(PeakActivationsTest, AWholeBackwardFreesAll) {
  const auto order = OneStage({{F, 0, 0}, {B, 0, 0}, {F, 0, 1}, {B, 0, 1}});
  EXPECT_THAT(PeakActivations(order, {{10, 4}}), ElementsAre(10));
}

TEST(PeakActivationsTest, TheWeightPartKeepsItsShare) {
  const auto late = OneStage(
      {{F, 0, 0}, {I, 0, 0}, {F, 0, 1}, {I, 0, 1}, {W, 0, 0}, {W, 0, 1}});
  EXPECT_THAT(PeakActivations(late, {{10, 4}}), ElementsAre(14));
  const auto early = OneStage(
      {{F, 0, 0}, {I, 0, 0}, {W, 0, 0}, {F, 0, 1}, {I, 0, 1}, {W, 0, 1}});
  EXPECT_THAT(PeakActivations(early, {{10, 4}}), ElementsAre(10));
}

// Stage 0 keeps three micro-batches of 5, stage 1 two of 7, stage 2 one of 2.
TEST(PeakActivationsTest, SizesAreThoseOfTheVirtualStage) {
  const auto order = OneForwardOneBackwardOrder(3, 6);
  EXPECT_THAT(PeakActivations(order, {{5, 0}, {7, 0}, {2, 0}}),
              ElementsAre(15, 14, 2));
}

TEST(PeakMicrobatchesTest, ChunksCountByTheirShare) {
  EXPECT_THAT(PeakMicrobatches(BreadthFirstOrder(2, 4, 3), 1),
              ElementsAre(3, 3));
}

}  // namespace
}  // namespace prism::step
