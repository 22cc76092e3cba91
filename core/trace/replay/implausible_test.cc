#include "core/trace/replay/implausible.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/trace/testing/made_trace.h"

namespace prism::trace {
namespace {

TEST(ImplausibleTest, WhatIsRightStays) {
  Step step = MakeStep(MadeJob());
  const auto before = step.operations;
  EXPECT_EQ(TakeOutImplausible(step), 0);
  EXPECT_EQ(step.operations, before);
}

TEST(ImplausibleTest, TimesFarFromAllElseAreTakenOut) {
  for (const bool start : {true, false}) {
    Step step = MakeStep(MadeJob());
    Operation& wrong = step.operations[step.operations.size() / 2];
    const Operation right = wrong;
    (start ? wrong.start_seconds : wrong.duration_seconds) += 5000;
    EXPECT_EQ(TakeOutImplausible(step), 1);
    for (const Operation& o : step.operations) {
      EXPECT_LT(o.end_seconds(), 100);
      EXPECT_FALSE(o.kind == right.kind && o.replica == right.replica &&
                   o.stage == right.stage && o.sequence == right.sequence);
    }
  }
}

TEST(ImplausibleTest, StartsThatDoNotRiseWithSequencesAreTakenOut) {
  for (const double moved : {-1.0, 1.0}) {
    Step step = MakeStep(MadeJob());
    for (Operation& o : step.operations) {
      const bool is_it = o.kind == OperationKind::kForwardCompute &&
                         o.replica == 1 && o.stage == 2 && o.sequence == 4;
      if (is_it) o.start_seconds += moved;
    }
    EXPECT_EQ(TakeOutImplausible(step), 1) << moved;
    for (const Operation& o : step.operations) {
      EXPECT_FALSE(o.kind == OperationKind::kForwardCompute && o.replica == 1 &&
                   o.stage == 2 && o.sequence == 4);
    }
  }
}

TEST(ImplausibleTest, AJobThatHangsIsNoDamage) {
  Step step = MakeStep(MadeJob());
  const size_t before = step.operations.size();
  for (Operation& o : step.operations) {
    if (o.kind == OperationKind::kOptimizer) o.start_seconds += 5000;
  }
  EXPECT_EQ(TakeOutImplausible(step), 0);
  EXPECT_EQ(step.operations.size(), before);
}

}  // namespace
}  // namespace prism::trace
