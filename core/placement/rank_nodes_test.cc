#include "core/placement/rank_nodes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/placement/test_support.h"

namespace prism::placement {
namespace {

RankNodesRequest Request(const JobSize& size) {
  RankNodesRequest request;
  request.job = TestJob(size);
  request.cluster = FlatCluster(16, 4);
  for (int64_t node = 0; node < 16; ++node) {
    hardware::NodeState state;
    state.node = node;
    state.slowdown = 1;
    request.cluster.node_states.push_back(state);
  }
  return request;
}

std::map<int64_t, RankedNode> Rank(const RankNodesRequest& request) {
  const auto ranked = RankNodes(request, base::UnlimitedBudget());
  EXPECT_TRUE(ranked.ok()) << ranked.status();
  std::map<int64_t, RankedNode> by_node;
  for (const RankedNode& node : *ranked) by_node[node.node] = node;
  return by_node;
}

TEST(RankNodesTest, ClassesAreStepsFromTheFastest) {
  RankNodesRequest request = Request({.tensor = 4, .data = 4});
  request.cluster.node_states[2].slowdown = 1.1;
  request.cluster.node_states[3].slowdown = 1.002;
  request.class_width = 0.02;
  const auto ranked = Rank(request);
  ASSERT_EQ(ranked.size(), 16u);
  EXPECT_EQ(ranked.at(0).performance_class, 0);
  EXPECT_EQ(ranked.at(3).performance_class, 0);
  EXPECT_NEAR(ranked.at(0).relative_slowdown, 1, 1e-6);
  // Half of the step or so is compute.
  EXPECT_GT(ranked.at(2).relative_slowdown, 1.03);
  EXPECT_LT(ranked.at(2).relative_slowdown, 1.1);
  EXPECT_EQ(ranked.at(2).performance_class,
            static_cast<int>(std::log(ranked.at(2).relative_slowdown) /
                             std::log(1.02)));
  EXPECT_EQ(ranked.at(2).straggler_probability, 1);
  EXPECT_EQ(ranked.at(3).straggler_probability, 0);
}

// A fast node among typical ones waits for them.
TEST(RankNodesTest, OneFastNodeDoesNotHelp) {
  RankNodesRequest request = Request({.tensor = 4, .data = 4});
  request.cluster.node_states[5].slowdown = 0.9;
  EXPECT_NEAR(Rank(request).at(5).relative_slowdown, 1, 1e-6);
}

TEST(RankNodesTest, APipelineHidesPartOfASlowNode) {
  const RankNodesRequest alone = Request({.tensor = 4, .data = 4});
  RankNodesRequest piped =
      Request({.tensor = 4, .pipeline = 4, .microbatches = 4});
  RankNodesRequest flat = alone;
  for (RankNodesRequest* request : {&piped, &flat}) {
    request->cluster.node_states[1].slowdown = 1.2;
  }
  EXPECT_LT(Rank(piped).at(1).relative_slowdown,
            Rank(flat).at(1).relative_slowdown);
  EXPECT_GT(Rank(piped).at(1).relative_slowdown, 1.02);
}

TEST(RankNodesTest, WhatCannotRunIsLast) {
  RankNodesRequest request = Request({.tensor = 4, .data = 4});
  request.cluster.node_states[0].health = hardware::Health::kFailed;
  request.cluster.node_states[1].health = hardware::Health::kDrained;
  request.cluster.node_states[2].health = hardware::Health::kDegraded;
  const auto ranked = RankNodes(request, base::UnlimitedBudget());
  ASSERT_TRUE(ranked.ok());
  EXPECT_EQ((*ranked)[14].performance_class, kCannotRunClass);
  EXPECT_EQ((*ranked)[15].performance_class, kCannotRunClass);
  EXPECT_EQ((*ranked)[13].performance_class, 0);
}

TEST(RankNodesTest, DoubtIsAProbability) {
  RankNodesRequest request = Request({.tensor = 4, .data = 4});
  auto& state = request.cluster.node_states[7];
  state.slowdown = 1.02;
  state.measured_slowdown = stats::Distribution::MakeNormal(1.02, 0.02);
  request.class_width = 0.01;
  const auto ranked = Rank(request);
  // The step crosses 1.01 where the factor does a little later.
  EXPECT_GT(ranked.at(7).straggler_probability, 0.3);
  EXPECT_LT(ranked.at(7).straggler_probability, 0.7);
}

TEST(RankNodesTest, RanksTheNodesAskedFor) {
  RankNodesRequest request = Request({.tensor = 4, .data = 4});
  request.nodes = {3, 9};
  EXPECT_EQ(Rank(request).size(), 2u);
}

}  // namespace
}  // namespace prism::placement
