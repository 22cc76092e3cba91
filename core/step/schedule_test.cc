#include "core/step/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace prism::step {
namespace {

using Kind = ScheduleKind;

// "F3" is the forward of micro-batch 3; with chunks "F3.1", on chunk 1.
std::string Written(const std::vector<Operation>& order, int stages,
                    bool chunks) {
  std::string text;
  for (const Operation& op : order) {
    if (!text.empty()) text += ' ';
    text += op.phase == Phase::kForward ? 'F' : 'B';
    text += std::to_string(op.microbatch);
    if (chunks) text += '.' + std::to_string(op.virtual_stage / stages);
  }
  return text;
}

TEST(StageOrdersTest, GpipeRunsAllForwardsFirst) {
  for (const auto& order : StageOrders(Kind::kGpipe, 2, 1, 3)) {
    EXPECT_EQ(Written(order, 2, false), "F0 F1 F2 B0 B1 B2");
  }
}

TEST(StageOrdersTest, PlainWarmsUpByItsDistanceFromTheEnd) {
  const auto orders = StageOrders(Kind::kOneForwardOneBackward, 3, 1, 4);
  EXPECT_EQ(Written(orders[0], 3, false), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(Written(orders[1], 3, false), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(Written(orders[2], 3, false), "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST(StageOrdersTest, PlainWithFewMicrobatchesWarmsUpWithAll) {
  const auto orders = StageOrders(Kind::kOneForwardOneBackward, 5, 1, 2);
  EXPECT_EQ(Written(orders[0], 5, false), "F0 F1 B0 B1");
  EXPECT_EQ(Written(orders[3], 5, false), "F0 F1 B0 B1");
  EXPECT_EQ(Written(orders[4], 5, false), "F0 B0 F1 B1");
}

TEST(StageOrdersTest, InterleavedAlternatesChunksByGroupsOfStages) {
  const auto orders = StageOrders(Kind::kInterleaved, 2, 2, 4);
  EXPECT_EQ(Written(orders[0], 2, true),
            "F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1 F2.1 B0.0 F3.1 B1.0 "
            "B2.1 B3.1 B2.0 B3.0");
  EXPECT_EQ(Written(orders[1], 2, true),
            "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 "
            "F3.1 B3.1 B2.0 B3.0");
}

TEST(StageOrdersTest, InterleavedWithAMicrobatchAStageRunsAllForwardsFirst) {
  const auto orders = StageOrders(Kind::kInterleaved, 2, 2, 2);
  for (const auto& order : orders) {
    EXPECT_EQ(Written(order, 2, true),
              "F0.0 F1.0 F0.1 F1.1 B0.1 B1.1 B0.0 B1.0");
  }
}

TEST(StageOrdersTest, OperationsLieOnTheirStage) {
  const auto orders = StageOrders(Kind::kInterleaved, 3, 2, 6);
  for (int stage = 0; stage < 3; ++stage) {
    for (const Operation& op : orders[stage]) {
      EXPECT_EQ(op.virtual_stage % 3, stage);
    }
  }
}

TEST(PeakChunksInFlightTest, GpipeKeepsAllMicrobatches) {
  EXPECT_EQ(PeakChunksInFlight(StageOrders(Kind::kGpipe, 4, 1, 9)[2]), 9);
}

TEST(PeakChunksInFlightTest, PlainKeepsTheStagesThatFollow) {
  const auto orders = StageOrders(Kind::kOneForwardOneBackward, 4, 1, 9);
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(PeakChunksInFlight(orders[stage]), 4 - stage);
  }
}

// One more than the warm-up of 2 (p - s - 1) + (v - 1) p.
TEST(PeakChunksInFlightTest, InterleavedKeepsItsWarmUpAndOne) {
  const auto orders = StageOrders(Kind::kInterleaved, 4, 3, 16);
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(PeakChunksInFlight(orders[stage]), 2 * (3 - stage) + 8 + 1);
  }
}

}  // namespace
}  // namespace prism::step
