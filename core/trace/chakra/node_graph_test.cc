#include "core/trace/chakra/node_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace prism::chakra {
namespace {

using ::testing::ElementsAre;

std::vector<int64_t> Starts(const std::vector<TimedNode>& nodes) {
  std::vector<int64_t> starts;
  for (const TimedNode& node : nodes) starts.push_back(node.start_ns);
  return starts;
}

TEST(NodeGraphTest, StartsNodesWhenTheirLaneAndWhatTheyWaitForAllow) {
  // Two kernels launched by a thread, and a collective beside the second.
  std::vector<TimedNode> nodes = {
      {1, 0, 10, 0, {}},  {2, 0, 10, 0, {1}},     {3, 0, 100, 7, {1}},
      {4, 0, 50, 7, {2}}, {5, 0, 30, 14, {2, 3}}, {6, 0, 5, 7, {4, 5}},
  };
  const ScheduleProblems problems = Schedule(nodes);
  EXPECT_THAT(Starts(nodes), ElementsAre(0, 10, 10, 110, 110, 160));
  EXPECT_EQ(problems.unknown, 0);
  EXPECT_EQ(problems.circular, 0);
}

TEST(NodeGraphTest, DoesNotDependOnTheOrderInTheFile) {
  std::vector<TimedNode> nodes = {
      {3, 0, 5, 0, {2}}, {2, 0, 5, 0, {1}}, {1, 0, 5, 0, {}}};
  Schedule(nodes);
  EXPECT_THAT(Starts(nodes), ElementsAre(10, 5, 0));
}

TEST(NodeGraphTest, CountsWhatCannotBe) {
  std::vector<TimedNode> nodes = {{1, 0, 5, 0, {99}},
                                  {2, 0, 5, 0, {3}},
                                  {3, 0, 5, 0, {2}},
                                  {4, 0, 5, 0, {3}}};
  const ScheduleProblems problems = Schedule(nodes);
  EXPECT_EQ(problems.unknown, 1);
  EXPECT_EQ(problems.circular, 3);
  for (const int64_t start : Starts(nodes)) EXPECT_LE(start, 15);
}

// Nothing starts before what it waits for has ended, lanes run one node at a
// time, and somebody always works: the end is at most the sum of all.
TEST(NodeGraphTest, KeepsTheRulesOnRandomGraphs) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<TimedNode> nodes(30);
    int64_t sum = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      nodes[i].id = i;
      nodes[i].duration_ns = static_cast<int64_t>(random() % 20);
      nodes[i].lane = static_cast<int32_t>(random() % 3);
      for (uint64_t n = i == 0 ? 0 : random() % 3; n > 0; --n)
        nodes[i].waits_for.push_back(random() % i);
      sum += nodes[i].duration_ns;
    }
    EXPECT_EQ(Schedule(nodes).circular, 0);
    for (const TimedNode& node : nodes) {
      EXPECT_LE(node.start_ns + node.duration_ns, sum);
      for (const uint64_t id : node.waits_for)
        EXPECT_GE(node.start_ns, nodes[id].start_ns + nodes[id].duration_ns);
      for (const TimedNode& other : nodes) {
        if (other.id == node.id || other.lane != node.lane) continue;
        EXPECT_TRUE(other.start_ns + other.duration_ns <= node.start_ns ||
                    node.start_ns + node.duration_ns <= other.start_ns);
      }
    }
  }
}

}  // namespace
}  // namespace prism::chakra
