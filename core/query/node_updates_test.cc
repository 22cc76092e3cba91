#include "core/query/node_updates.h"

#include <gtest/gtest.h>

namespace prism::query {
namespace {

using prism::v1::Cluster;
using prism::v1::NodeState;

NodeState Slow(uint32_t node, double factor) {
  NodeState state;
  state.set_node(node);
  state.set_slowdown(factor);
  return state;
}

NodeState Measured(uint32_t node, std::vector<double> samples) {
  NodeState state;
  state.set_node(node);
  for (const double x : samples) {
    state.mutable_measured_slowdown()->mutable_empirical()->add_samples(x);
  }
  return state;
}

TEST(MergeNodeState, ReplacesWhatIsSetAndKeepsTheRest) {
  NodeState state = Slow(3, 1.1);
  state.set_failures_per_day(0.5);
  MergeNodeState(Slow(3, 1.2), state);
  EXPECT_EQ(state.slowdown(), 1.2);
  EXPECT_EQ(state.failures_per_day(), 0.5);
  NodeState update;
  update.set_node(3);
  update.set_failures_per_day(0);
  MergeNodeState(update, state);
  EXPECT_EQ(state.slowdown(), 1.2);
  EXPECT_EQ(state.failures_per_day(), 0);
}

TEST(MergeNodeState, FactorAndItsDistributionReplaceEachOther) {
  NodeState state = Slow(3, 1.1);
  MergeNodeState(Measured(3, {1, 2}), state);
  EXPECT_EQ(state.slowdown(), 0);
  // Another measurement does not add to the one before.
  MergeNodeState(Measured(3, {4}), state);
  EXPECT_EQ(state.measured_slowdown().empirical().samples_size(), 1);
  MergeNodeState(Slow(3, 1.2), state);
  EXPECT_FALSE(state.has_measured_slowdown());
}

TEST(MergeNodeState, AReasonGoesWithTheHealthItWasGivenFor) {
  NodeState state, update;
  state.set_health(prism::v1::HEALTH_DRAINED);
  state.set_reason("fan");
  MergeNodeState(Slow(0, 1.2), state);
  EXPECT_EQ(state.reason(), "fan");
  update.set_health(prism::v1::HEALTH_HEALTHY);
  MergeNodeState(update, state);
  EXPECT_EQ(state.reason(), "");
  EXPECT_EQ(state.health(), prism::v1::HEALTH_HEALTHY);
}

TEST(ApplyNodeStates, MergesKnownNodesAndAddsOthers) {
  Cluster cluster;
  *cluster.add_node_states() = Slow(5, 1.1);
  cluster.mutable_node_states(0)->set_health(prism::v1::HEALTH_DEGRADED);
  Cluster updates;
  *updates.add_node_states() = Slow(2, 1.3);
  *updates.add_node_states() = Slow(5, 1.2);
  ApplyNodeStates(updates.node_states(), cluster);
  ASSERT_EQ(cluster.node_states_size(), 2);
  EXPECT_EQ(cluster.node_states(0).slowdown(), 1.2);
  EXPECT_EQ(cluster.node_states(0).health(), prism::v1::HEALTH_DEGRADED);
  EXPECT_EQ(cluster.node_states(1).node(), 2u);
}

TEST(NodeNames, FindByNameOrNumber) {
  const NodeNames names({"n01", "n02", "0"}, 3);
  EXPECT_EQ(names.Find("n02"), 1);
  EXPECT_EQ(names.Find("1"), 1);
  // A name comes first.
  EXPECT_EQ(names.Find("0"), 2);
}

TEST(NodeNames, WhatIsNeitherIsNotFound) {
  const NodeNames names({}, 3);
  EXPECT_EQ(names.Find("2"), 2);
  for (const char* text : {"3", "-1", "", "1x", "n01", "1 "}) {
    EXPECT_FALSE(names.Find(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace prism::query
