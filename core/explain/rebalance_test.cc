#include "core/explain/rebalance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/step/step_profile.h"
#include "core/step/test_support.h"

namespace prism::explain {
namespace {

using stats::Distribution;
using testing::DoubleEq;
using testing::ElementsAre;

TEST(BalancedLayers, AHeadCountsAsWhatItTakes) {
  // The head takes as long as two layers.
  const std::vector<StagePart> parts = {
      {.stages = {0}}, {.stages = {1}}, {.stages = {2}, .fixed_seconds = 2}};
  EXPECT_THAT(BalancedLayers(parts, {1, 1, 1}, 1, 10), ElementsAre(4, 4, 2));
}

TEST(BalancedLayers, ASlowStageHasFewer) {
  const std::vector<StagePart> parts = {{.stages = {0}}, {.stages = {1}}};
  EXPECT_THAT(BalancedLayers(parts, {1, 2}, 1, 9), ElementsAre(6, 3));
}

TEST(BalancedLayers, PartsOfOneStageShareIt) {
  // Two chunks a stage, and two chains that hold a part each.
  EXPECT_THAT(BalancedLayers({{.stages = {0}, .fixed_seconds = 4},
                              {.stages = {1}},
                              {.stages = {0}},
                              {.stages = {1}}},
                             {1, 1}, 1, 12),
              ElementsAre(2, 4, 2, 4));
  EXPECT_THAT(BalancedLayers(
                  {{.stages = {0, 1}, .fixed_seconds = 1}, {.stages = {1, 0}}},
                  {1, 1}, 1, 6),
              ElementsAre(3, 3));
}

// No split of a few layers is better.
TEST(BalancedLayers, IsBestOfAll) {
  const double fixed[] = {0.7, 0, 0.2, 2.4};
  const std::vector<double> slowdown = {1, 1.3, 1, 1.1};
  const auto longest = [&](const std::vector<int64_t>& split) {
    double most = 0;
    for (int i = 0; i < 4; ++i) {
      most = std::max(most, slowdown[i] * (fixed[i] + 1.1 * split[i]));
    }
    return most;
  };
  std::vector<StagePart> parts;
  for (int i = 0; i < 4; ++i) {
    parts.push_back({.stages = {i}, .fixed_seconds = fixed[i]});
  }
  const double balanced = longest(BalancedLayers(parts, slowdown, 1.1, 14));
  double best = balanced;
  for (int64_t a = 1; a < 12; ++a) {
    for (int64_t b = 1; a + b < 13; ++b) {
      for (int64_t c = 1; a + b + c < 14; ++c) {
        best = std::min(best, longest({a, b, c, 14 - a - b - c}));
      }
    }
  }
  EXPECT_EQ(balanced, best);
}

TEST(BalancedScales, KeepTheSumAndFollowSpeeds) {
  EXPECT_THAT(BalancedScales({0, 1}, {1, 2}, {1, 2}),
              ElementsAre(DoubleEq(2), DoubleEq(1)));
  EXPECT_THAT(BalancedScales({0, 1, 0, 1}, {}, {1, 1}),
              ElementsAre(1, 1, 1, 1));
}

TEST(SplitSeconds, TellsNamedSegmentsFromOthers) {
  step::StepProfile profile;
  profile.pipeline = 2;
  step::ProfileSegment layer = step::ComputeSegment(
      Distribution::MakeConstant(10), step::Sync::kNone, 3);
  layer.name = "layer";
  profile.forward = {layer,
                     step::ComputeSegment(Distribution::MakeConstant(7))};
  profile.backward = {layer};
  profile.slowdown = {{1, 1.5}};
  const step::StepGraph graph = BuildGraph(profile);
  const SecondsOfStages seconds = SplitSeconds(graph, {"layer"});
  EXPECT_THAT(seconds.named, ElementsAre(DoubleEq(0.06), DoubleEq(0.06)));
  EXPECT_THAT(seconds.others, ElementsAre(DoubleEq(0.007), DoubleEq(0.007)));
  EXPECT_THAT(SlowdownOfStages(graph), ElementsAre(1, 1.5));
}

}  // namespace
}  // namespace prism::explain
