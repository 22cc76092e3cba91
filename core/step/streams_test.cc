// Streams, offsets, detached tasks, phases and layouts of the step graph, each
// against a sum done by hand.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/step/test_support.h"

namespace prism::step {
namespace {

// One rank; the backward is empty.
class StreamsTest : public testing::Test {
 protected:
  Task TaskOf(double seconds, int stream, std::vector<int> after,
              bool detached = false) {
    Task task = ConstantTask(graph_, seconds);
    task.stream = stream;
    task.after = std::move(after);
    task.detached = detached;
    return task;
  }

  StepGraph graph_ = EmptyGraph({1, 1, 1});
};

TEST_F(StreamsTest, TasksOnTwoStreamsOverlap) {
  AddSegment(graph_, kForwardProgram, {TaskOf(3, 0, {1}), TaskOf(5, 1, {})});
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph_), 5);
}

TEST_F(StreamsTest, TaskStartsAtTheLatestOfWhatItWaitsFor) {
  AddSegment(graph_, kForwardProgram,
             {TaskOf(3, 0, {1}), TaskOf(5, 1, {}), TaskOf(1, 0, {1, 2})});
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph_), 6);
}

TEST_F(StreamsTest, TaskDoesNotWaitForWhatItDoesNotName) {
  AddSegment(graph_, kForwardProgram,
             {TaskOf(3, 0, {1}), TaskOf(5, 1, {}), TaskOf(4, 0, {2})});
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph_), 7);
}

TEST_F(StreamsTest, StreamRunsOneTaskAtATime) {
  AddSegment(graph_, kForwardProgram,
             {TaskOf(1, 0, {1}), TaskOf(5, 1, {}), TaskOf(5, 1, {})});
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph_), 10);
}

TEST_F(StreamsTest, OffsetBeforeTheFirstTaskIsTheOperationsStart) {
  AddSegment(graph_, kForwardProgram, {TaskOf(3, 0, {1}), TaskOf(4, 1, {7})});
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph_), 4);
}

// Communication of one layer under the compute of the next: computes at 0, 2
// and 4, communication at 2, 5 and 8.
TEST_F(StreamsTest, OffsetsReachAcrossRepetitions) {
  AddSegment(graph_, kForwardProgram, {TaskOf(2, 0, {2}), TaskOf(3, 1, {1})},
             3);
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph_), 11);
}

TEST_F(StreamsTest, OffsetsReachAcrossSegments) {
  AddSegment(graph_, kForwardProgram, {TaskOf(2, 0, {1}), TaskOf(9, 1, {})});
  AddSegment(graph_, kForwardProgram, {TaskOf(1, 0, {2})});
  AddSegment(graph_, kForwardProgram, {TaskOf(4, 0, {2})});
  // The last waits for the 9 of two tasks back.
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph_), 13);
}

TEST_F(StreamsTest, ChainWithoutOverlapIsASum) {
  AddSegment(graph_, kForwardProgram, {TaskOf(2, 0, {1}), TaskOf(3, 1, {1})},
             3);
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph_), 15);
}

// Forward 0 to 2; its detached task 2 to 12 on the other stream; backward 2 to
// 5; the closing waits for both.
TEST_F(StreamsTest, ClosingWaitsForDetachedTasks) {
  AddSegment(graph_, kForwardProgram,
             {TaskOf(2, 0, {1}), TaskOf(10, 1, {1}, true)});
  AddSegment(graph_, kBackwardProgram, {TaskOf(3, 0, {1})});
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph_), 12);
  AddSegment(graph_, kClosingProgram, {TaskOf(1, 0, {1})});
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph_), 13);
}

TEST_F(StreamsTest, DetachedTasksOfLaterOperationsQueueOnTheStream) {
  AddSegment(graph_, kForwardProgram,
             {TaskOf(2, 0, {1}), TaskOf(10, 1, {1}, true)});
  AddSegment(graph_, kBackwardProgram,
             {TaskOf(3, 0, {1}), TaskOf(10, 1, {1}, true)});
  AddSegment(graph_, kClosingProgram, {TaskOf(1, 0, {1})});
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph_), 2 + 10 + 10 + 1);
}

TEST_F(StreamsTest, DetachedTaskOnTheComputeStreamHoldsUpTheNextOperation) {
  AddSegment(graph_, kForwardProgram,
             {TaskOf(2, 0, {1}), TaskOf(10, 0, {1}, true)});
  AddSegment(graph_, kBackwardProgram, {TaskOf(3, 0, {1})});
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph_), 15);
}

TEST_F(StreamsTest, StepWaitsForDetachedTasksOfTheClosing) {
  AddSegment(graph_, kClosingProgram,
             {TaskOf(4, 1, {1}, true), TaskOf(1, 0, {2})});
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph_), 4);
}

// A detached task does not delay what its operation sends.
TEST(DetachedTest, ReceiverDoesNotWait) {
  StepGraph graph = EmptyGraph({1, 2, 1});
  Task detached = ConstantTask(graph, 3);
  detached.stream = 1;
  detached.detached = true;
  AddSegment(graph, kForwardProgram, {ConstantTask(graph, 1), detached});
  AddSegment(graph, kBackwardProgram, {ConstantTask(graph, 1)});
  // Forwards at 0 and 1, backwards at 2 and 3; detached until 4 and 5.
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph), 5);
}

// Members of a group wait for each other on the group's stream, and lanes
// that are ready earlier start late.
TEST(StreamGroupTest, MembersStartTogether) {
  StepGraph graph = EmptyGraph({1, 1, 2});
  graph.groups = {{.lane_count = 2}};
  graph.slowdown = {1, 3};
  Task exchange = ConstantTask(graph, 4);
  exchange.factor_class = FactorClass::kNetwork;
  exchange.stream = 1;
  exchange.group = 0;
  Task after = ConstantTask(graph, 2);
  after.after = {2};
  AddSegment(graph, kForwardProgram, {ConstantTask(graph, 1), exchange, after});
  // Lanes compute until 1 and 3, exchange 3 to 7, and meanwhile compute until
  // 3 and 9.
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph), 9);
}

class WeightPhaseTest : public testing::Test {
 protected:
  // Forward 1, backward 1, backward weight 1; backward weights as late as
  // `order` puts them.
  void AddWeightPhase(std::vector<std::vector<Operation>> order) {
    AddSegment(graph_, kForwardProgram, {ConstantTask(graph_, 1)});
    AddSegment(graph_, kBackwardProgram, {ConstantTask(graph_, 1)});
    graph_.programs.emplace_back();
    AddSegment(graph_, 3, {ConstantTask(graph_, 1)});
    graph_.program_of[static_cast<int>(B)].swap(graph_.program_of[1]);
    graph_.program_of[static_cast<int>(W)].assign(2, 3);
    graph_.order = std::move(order);
  }

  static constexpr auto F = Phase::kForward;
  static constexpr auto B = Phase::kBackwardInput;
  static constexpr auto W = Phase::kBackwardWeight;
  StepGraph graph_ = EmptyGraph({1, 2, 1}, 2);
};

// Stage 1: F0 1, B0 2, F1 3, B1 4, W0 5, W1 6. Stage 0: F0 0, F1 1, B0 3 to 4,
// W0 4 to 5, B1 5 to 6, W1 6 to 7.
TEST_F(WeightPhaseTest, FillsTheBubble) {
  AddWeightPhase(
      {{{F, 0, 0}, {F, 0, 1}, {B, 0, 0}, {W, 0, 0}, {B, 0, 1}, {W, 0, 1}},
       {{F, 1, 0}, {B, 1, 0}, {F, 1, 1}, {B, 1, 1}, {W, 1, 0}, {W, 1, 1}}});
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph_), 7);
}

// As one backward of length 2: (m + p - 1) (F + B) = 3 * 3, less the last
// weight part, which stage 0 does not wait for: stage 1 is at B1 by 5 + 1.
TEST_F(WeightPhaseTest, IsNotWaitedForByTheStageBefore) {
  AddWeightPhase(
      {{{F, 0, 0}, {F, 0, 1}, {B, 0, 0}, {W, 0, 0}, {B, 0, 1}, {W, 0, 1}},
       {{F, 1, 0}, {B, 1, 0}, {W, 1, 0}, {F, 1, 1}, {B, 1, 1}, {W, 1, 1}}});
  // Stage 1: F0 1-2, B0 2-3, W0 3-4, F1 4-5, B1 5-6, W1 6-7. Stage 0: B0 3-4,
  // W0 4-5, B1 6-7, W1 7-8.
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph_), 8);
}

// Virtual stages 0 to 3 on stages 0, 1, 1, 0: one micro-batch goes down and up
// the V, eight operations and four hops one after the other: the turn, within
// stage 1, takes no time.
TEST(VShapeTest, OneMicrobatchPassesEveryOperation) {
  StepGraph graph = EmptyGraph({1, 2, 1});
  graph.stage_of = {0, 1, 1, 0};
  graph.program_of[0].assign(4, kForwardProgram);
  graph.program_of[1].assign(4, kBackwardProgram);
  const int hop =
      graph.add_distribution(stats::Distribution::MakeConstant(0.25));
  graph.forward_hop.assign(3, hop);
  graph.backward_hop.assign(3, hop);
  AddSegment(graph, kForwardProgram, {ConstantTask(graph, 1)});
  AddSegment(graph, kBackwardProgram, {ConstantTask(graph, 2)});
  constexpr auto F = Phase::kForward, B = Phase::kBackward;
  graph.order = {{{F, 0, 0}, {F, 3, 0}, {B, 3, 0}, {B, 0, 0}},
                 {{F, 1, 0}, {F, 2, 0}, {B, 2, 0}, {B, 1, 0}}};
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph), 4 * 1 + 4 * 2 + 4 * 0.25);
}

TEST(HopFactorTest, MultipliesTheHopsOfItsBoundaryAndReplica) {
  StepGraph graph = EmptyGraph({2, 3, 1});
  AddSegment(graph, kForwardProgram, {ConstantTask(graph, 1)});
  AddSegment(graph, kBackwardProgram, {ConstantTask(graph, 2)});
  graph.forward_hop.assign(
      2, graph.add_distribution(stats::Distribution::MakeConstant(1)));
  graph.backward_hop.assign(
      2, graph.add_distribution(stats::Distribution::MakeConstant(10)));
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph), 9 + 2 * 11);
  // Boundary 0 of replica 0, boundary 1 of replica 1.
  graph.hop_factor = {2, 1, 1, 1};
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph), 9 + 2 * 11 + 11);
  graph.hop_factor = {2, 1, 1, 3};
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph), 9 + 2 * 11 + 2 * 11);
}

TEST(GroupFactorTest, MultipliesTheDrawsOfItsGroup) {
  StepGraph graph = EmptyGraph({4, 1, 1});
  graph.groups = {{.replica_stride = 2, .replica_count = 2},
                  {.replica_count = 4}};
  Task pair = ConstantTask(graph, 1), all = ConstantTask(graph, 10);
  pair.group = 0;
  all.group = 1;
  AddSegment(graph, kClosingProgram, {pair, all});
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph), 11);
  // Pairs {0, 2} and {1, 3}; the second is slow. Only the first replica of a
  // group is asked.
  graph.group_factor = {{1, 5, 99, 99}};
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph), 15);
  graph.group_factor = {{1, 5, 99, 99}, {2, 99, 99, 99}};
  EXPECT_DOUBLE_EQ(ConstantSeconds(graph), 25);
}

}  // namespace
}  // namespace prism::step
