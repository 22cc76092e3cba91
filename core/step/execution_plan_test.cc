#include "core/step/execution_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/step/test_support.h"

namespace prism::step {
namespace {

using testing::HasSubstr;

StepGraph ScheduledGraph(ScheduleKind schedule, int stages, int chunks,
                         int microbatches) {
  return BuildGraph(
      ConstantProfile(schedule, stages, chunks, microbatches, 1, 2));
}

ExecutionPlan PlanOf(const StepGraph& graph) {
  auto plan = PlanExecution(graph);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *plan : ExecutionPlan{};
}

class PlanTest : public testing::TestWithParam<ScheduleKind> {
 protected:
  StepGraph graph_ = ScheduledGraph(
      GetParam(), 4, GetParam() == ScheduleKind::kInterleaved ? 3 : 1, 8);
};

TEST_P(PlanTest, StagesRunTheirOrders) {
  std::vector<std::vector<Operation>> ran(graph_.grid.stages);
  for (const PlannedOperation& planned : PlanOf(graph_).operations) {
    ran[planned.stage].push_back(planned.operation);
  }
  EXPECT_EQ(ran, graph_.order);
}

TEST_P(PlanTest, IdsAreUnique) {
  const ExecutionPlan plan = PlanOf(graph_);
  std::set<uint32_t> ids;
  for (const PlannedOperation& planned : plan.operations) {
    ids.insert(planned.id);
  }
  EXPECT_EQ(ids.size(), plan.operations.size());
}

// Replays the plan: what lies in a slot when it is read is what the neighbour
// sent for this micro-batch.
TEST_P(PlanTest, SlotsHoldWhatTheReceiverWaitsFor) {
  std::map<int, Operation> slots;
  for (const PlannedOperation& planned : PlanOf(graph_).operations) {
    const Operation& op = planned.operation;
    if (planned.receives != kAbsent) {
      const int from = op.phase == Phase::kForward ? -1 : 1;
      const Operation expected{op.phase, op.virtual_stage + from,
                               op.microbatch};
      ASSERT_TRUE(slots.contains(planned.receives));
      EXPECT_EQ(slots[planned.receives], expected);
      slots.erase(planned.receives);
    }
    if (planned.sends != kAbsent) {
      ASSERT_FALSE(slots.contains(planned.sends));
      slots[planned.sends] = op;
    }
  }
  EXPECT_TRUE(slots.empty());
}

TEST_P(PlanTest, OperationsAtTheEndsWaitForNobody) {
  for (const PlannedOperation& planned : PlanOf(graph_).operations) {
    const bool forward = planned.operation.phase == Phase::kForward;
    const int u = planned.operation.virtual_stage;
    const int last = graph_.virtual_stages() - 1;
    EXPECT_EQ(planned.receives == kAbsent, u == (forward ? 0 : last));
    EXPECT_EQ(planned.sends == kAbsent, u == (forward ? last : 0));
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, PlanTest,
                         testing::Values(ScheduleKind::kGpipe,
                                         ScheduleKind::kOneForwardOneBackward,
                                         ScheduleKind::kInterleaved));

// Each hop has at most its warm-up's operations under way, whatever the
// number of micro-batches.
TEST(PlanSlotsTest, DoNotGrowWithMicrobatches) {
  auto slots = [](int microbatches) {
    return PlanOf(ScheduledGraph(ScheduleKind::kOneForwardOneBackward, 4, 1,
                                 microbatches))
        .slots;
  };
  EXPECT_LE(slots(16), 16);
  EXPECT_EQ(slots(256), slots(16));
}

TEST(PlanHopTest, BoundaryAndDistributionAreThoseCrossed) {
  StepGraph graph = ScheduledGraph(ScheduleKind::kGpipe, 3, 1, 1);
  graph.forward_hop = {11, 12};
  graph.backward_hop = {21, 22};
  std::map<uint32_t, std::pair<int, int>> hops;
  for (const PlannedOperation& planned : PlanOf(graph).operations) {
    hops[planned.id] = {planned.hop, planned.boundary};
  }
  using testing::Pair;
  EXPECT_THAT(hops,
              testing::ElementsAre(Pair(0, Pair(11, 0)), Pair(1, Pair(12, 1)),
                                   Pair(2, Pair(kAbsent, kAbsent)),
                                   Pair(3, Pair(kAbsent, kAbsent)),
                                   Pair(4, Pair(21, 0)), Pair(5, Pair(22, 1))));
}

// Stage 0 wants the backward of micro-batch 0 before it sends micro-batch 1;
// stage 1 wants micro-batch 1 first.
TEST(PlanDeadlockTest, NamesTheOperationsThatWaitInACircle) {
  StepGraph graph = ScheduledGraph(ScheduleKind::kGpipe, 2, 1, 2);
  const Operation f0{Phase::kForward, 0, 0}, b0{Phase::kBackward, 0, 0};
  const Operation f1{Phase::kForward, 0, 1}, b1{Phase::kBackward, 0, 1};
  graph.order[0] = {f0, b0, f1, b1};
  ASSERT_TRUE(graph.Validate().ok());
  const auto status = PlanExecution(graph).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("stage 0 before backward of micro-batch 0 on virtual "
                        "stage 0"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("stage 1 before forward of micro-batch 1 on virtual "
                        "stage 1"));
}

TEST(PlanDeadlockTest, LeavesOutStagesThatAreDone) {
  StepGraph graph = ScheduledGraph(ScheduleKind::kGpipe, 3, 1, 1);
  // Virtual stage 2 has no backward, so stages 0 and 1 never get theirs.
  graph.program_of[1][2] = -1;
  graph.order[2].pop_back();
  ASSERT_TRUE(graph.Validate().ok());
  const auto status = PlanExecution(graph).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("stage 0 before"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("stage 1 before"));
  EXPECT_THAT(std::string(status.message()),
              testing::Not(HasSubstr("stage 2 before")));
}

}  // namespace
}  // namespace prism::step
