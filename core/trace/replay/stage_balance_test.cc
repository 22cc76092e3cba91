#include "core/trace/replay/stage_balance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace prism::trace {
namespace {

using ::testing::ElementsAre;
using Seconds = std::vector<double>;
using Layers = std::vector<int>;

TEST(StageBalanceTest, AStageWithMoreToDoGivesLayersAway) {
  // The last stage also computes the loss, which takes as long as 3 layers.
  const StageBalance balance =
      BalanceLayers(Seconds{8, 8, 8, 11}, Layers{8, 8, 8, 8});
  EXPECT_EQ(*std::max_element(balance.seconds.begin(), balance.seconds.end()),
            9);
  EXPECT_THAT(balance.layers, ElementsAre(9, 9, 9, 5));
}

TEST(StageBalanceTest, WhatIsBalancedStays) {
  const StageBalance balance = BalanceLayers(Seconds{2, 2, 2}, Layers{4, 4, 4});
  EXPECT_THAT(balance.layers, ElementsAre(4, 4, 4));
}

// All splits of few layers, tried one by one.
TEST(StageBalanceTest, NoOtherSplitHasAShorterLongestStage) {
  const Seconds extra = {1.5, 0, 0.25, 4};
  const Layers now = {3, 3, 3, 3};
  Seconds seconds;
  for (size_t i = 0; i < now.size(); ++i) seconds.push_back(now[i] + extra[i]);
  const StageBalance balance = BalanceLayers(seconds, now);
  const double longest =
      *std::max_element(balance.seconds.begin(), balance.seconds.end());
  // The lower median over stages of their time for a layer.
  const double layer = seconds[2] / now[2];
  double best = 1e9;
  for (int a = 1; a <= 9; ++a) {
    for (int b = 1; a + b <= 10; ++b) {
      for (int c = 1; a + b + c <= 11; ++c) {
        const int split[] = {a, b, c, 12 - a - b - c};
        double worst = 0;
        for (size_t i = 0; i < 4; ++i) {
          worst = std::max(worst, seconds[i] + layer * (split[i] - now[i]));
        }
        best = std::min(best, worst);
      }
    }
  }
  EXPECT_NEAR(longest, best, 1e-9);
}

}  // namespace
}  // namespace prism::trace
