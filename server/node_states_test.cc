#include "server/node_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace prism::server {
namespace {

using prism::v1::HEALTH_DRAINED;
using prism::v1::HEALTH_FAILED;
using prism::v1::HEALTH_HEALTHY;
using prism::v1::NodeState;
using testing::ElementsAre;

NodeState State(uint32_t node, double slowdown = 0,
                prism::v1::Health health = prism::v1::HEALTH_UNSPECIFIED) {
  NodeState state;
  state.set_node(node);
  state.set_slowdown(slowdown);
  state.set_health(health);
  return state;
}

std::vector<uint32_t> NodesIn(const NodeStates& states) {
  std::vector<uint32_t> nodes;
  states.ForEach([&](const NodeState& s) { nodes.push_back(s.node()); });
  return nodes;
}

TEST(NodeStatesTest, FindsWhatWasSet) {
  NodeStates states;
  EXPECT_EQ(states.Find(0), nullptr);
  for (uint32_t node : {1000u, 3u, 64u, 63u}) states.Set(State(node, 1 + node));
  EXPECT_THAT(NodesIn(states), ElementsAre(3, 63, 64, 1000));
  EXPECT_EQ(states.Find(64)->slowdown(), 65);
  EXPECT_EQ(states.Find(62), nullptr);
  EXPECT_EQ(states.Find(1 << 20), nullptr);
}

TEST(NodeStatesTest, CopiesDoNotSeeLaterChanges) {
  NodeStates states;
  states.Set(State(5, 2));
  const NodeStates before = states;
  states.Set(State(5, 3));
  states.Set(State(6, 3));
  EXPECT_EQ(before.Find(5)->slowdown(), 2);
  EXPECT_EQ(before.Find(6), nullptr);
  EXPECT_EQ(states.Find(5)->slowdown(), 3);
}

TEST(NodeStatesTest, CountsUnhealthyNodes) {
  NodeStates states;
  states.Set(State(1, 1, HEALTH_DRAINED));
  states.Set(State(2, 1, HEALTH_FAILED));
  states.Set(State(3, 1));
  EXPECT_EQ(states.unhealthy(), 2);
  states.Set(State(1, 1, HEALTH_FAILED));
  EXPECT_EQ(states.unhealthy(), 2);
  states.Set(State(1, 1, HEALTH_HEALTHY));
  EXPECT_EQ(states.unhealthy(), 1);
}

}  // namespace
}  // namespace prism::server
