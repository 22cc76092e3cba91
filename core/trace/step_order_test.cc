#include "core/trace/step_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace prism::trace {
namespace {

using ::testing::ElementsAre;

std::vector<int> Sequences(const Step& step) {
  std::vector<int> sequences;
  for (const Operation& o : step.operations) sequences.push_back(o.sequence);
  return sequences;
}

TEST(StepOrderTest, OperationsAreSortedAndTheFirstOfTwoStays) {
  Step step;
  for (const int sequence : {2, 0, 1, 0}) {
    step.operations.push_back(
        {.sequence = sequence,
         .start_seconds = static_cast<double>(step.operations.size())});
  }
  EXPECT_EQ(PutInOrder(step), 1);
  EXPECT_THAT(Sequences(step), ElementsAre(0, 1, 2));
  EXPECT_EQ(step.operations[0].start_seconds, 1);
}

TEST(StepOrderTest, SequencesThatAreMissingFollowFromTheStarts) {
  Step step;
  for (const double start : {3.0, 1.0, 2.0}) {
    step.operations.push_back({.sequence = kNone, .start_seconds = start});
  }
  EXPECT_EQ(PutInOrder(step), 0);
  EXPECT_THAT(Sequences(step), ElementsAre(0, 1, 2));
  EXPECT_EQ(step.operations[0].start_seconds, 1);
}

TEST(StepOrderTest, WorkersAndKindsAreApart) {
  Step step;
  step.operations = {{.kind = OperationKind::kOptimizer, .stage = 1},
                     {.kind = OperationKind::kForwardCompute, .stage = 1},
                     {.kind = OperationKind::kOptimizer, .replica = 1},
                     {.kind = OperationKind::kOptimizer}};
  EXPECT_EQ(PutInOrder(step), 0);
  EXPECT_EQ(step.operations[0].stage, 0);
  EXPECT_EQ(step.operations[1].kind, OperationKind::kForwardCompute);
  EXPECT_EQ(step.operations[3].replica, 1);
}

}  // namespace
}  // namespace prism::trace
