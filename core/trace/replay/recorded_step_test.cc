#include "core/trace/replay/recorded_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/trace/step_order.h"
#include "core/trace/testing/made_trace.h"

namespace prism::trace {
namespace {

struct Case {
  std::string name;
  Sizes sizes;
  int microbatches;
};

class RecordedStepTest : public ::testing::TestWithParam<Case> {
 protected:
  static MadeJob Job() {
    MadeJob job;
    job.sizes = GetParam().sizes;
    job.microbatches = GetParam().microbatches;
    // All unlike, so that no wrong order gives the same times.
    job.compute_seconds = [](const Operation& o) {
      const int mixed =
          (o.replica * 7 + o.stage * 5 + o.microbatch * 3 + o.chunk * 11 +
           (o.kind == OperationKind::kForwardCompute ? 0 : 13)) %
          17;
      return 0.1 + 0.01 * mixed;
    };
    return job;
  }
};

TEST_P(RecordedStepTest, RunAgainItTakesAsLongAsItDid) {
  const Step step = MakeStep(Job());
  const auto recorded = RecordedStep::From(step, GetParam().sizes);
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  std::vector<double> ends(step.operations.size());
  EXPECT_NEAR(recorded->program().Run(recorded->work(), ends),
              MeasuredSeconds(step), 1e-9);
  for (size_t i = 0; i < ends.size(); ++i) {
    if (!IsCompute(step.operations[i].kind)) continue;
    EXPECT_NEAR(ends[i], step.operations[i].end_seconds(), 1e-9) << i;
  }
}

TEST_P(RecordedStepTest, TransfersAreFreeOfWaiting) {
  const Step step = MakeStep(Job());
  const auto recorded = RecordedStep::From(step, GetParam().sizes);
  ASSERT_TRUE(recorded.ok());
  double waiting = 0;
  for (size_t i = 0; i < step.operations.size(); ++i) {
    const Operation& o = step.operations[i];
    if (!IsPointToPoint(o.kind)) continue;
    if (o.duration_seconds > 0) {
      EXPECT_NEAR(recorded->work()[i], Job().transfer_seconds, 1e-9);
    }
    waiting += o.duration_seconds - recorded->work()[i];
  }
  EXPECT_GT(waiting, 0.5);
}

TEST_P(RecordedStepTest, DelaysAreWhatNoOperationAccountsFor) {
  Step step = MakeStep(Job());
  const double without = MeasuredSeconds(step);
  for (Operation& o : step.operations) {
    if (o.kind == OperationKind::kOptimizer) o.start_seconds += 0.3;
  }
  const auto recorded = RecordedStep::From(step, GetParam().sizes);
  ASSERT_TRUE(recorded.ok());
  std::vector<double> ends(step.operations.size());
  EXPECT_NEAR(recorded->program().Run(recorded->work(), ends), without, 1e-9);
  EXPECT_NEAR(
      recorded->program().Run(recorded->work(), ends, recorded->Delays()),
      without + 0.3, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, RecordedStepTest,
    ::testing::Values(
        Case{"OneChunk", {.data = 2, .pipeline = 4}, 8},
        Case{"TwoStages", {.data = 3, .pipeline = 2, .context = 2}, 5},
        Case{"TwoChunks", {.data = 2, .pipeline = 4, .chunks = 2}, 8},
        Case{"FourChunks", {.data = 1, .pipeline = 2, .chunks = 4}, 4}),
    [](const auto& c) { return c.param.name; });

TEST(RecordedStepBoundTest, WorkIsHeldToTheTypicalOnlyWhereAPeerIsMissing) {
  MadeJob job;
  Step step = MakeStep(job);
  const auto missing = std::find_if(
      step.operations.begin(), step.operations.end(), [](const Operation& o) {
        return o.kind == OperationKind::kForwardSend && o.sequence == 5;
      });
  step.operations.erase(missing);
  auto recorded = RecordedStep::From(step, job.sizes);
  ASSERT_TRUE(recorded.ok());
  const std::vector<double> before = recorded->work();
  KindSeconds typical;
  typical.fill(1e-4);
  recorded->Bound(typical);
  int held = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_TRUE(recorded->work()[i] == before[i] || !recorded->IsKnown(i));
    held += recorded->work()[i] < before[i];
  }
  EXPECT_GE(held, 1);
  EXPECT_LE(held, 4);  // the receives after the gap pair with one later
}

TEST(RecordedStepClockTest, ClocksThatDoNotAgreeGiveNoNegativeWork) {
  MadeJob job;
  Step step = MakeStep(job);
  for (Operation& o : step.operations) {
    if (o.stage == 2) o.start_seconds += 3;  // its clock is ahead
  }
  const auto recorded = RecordedStep::From(step, job.sizes);
  ASSERT_TRUE(recorded.ok());
  for (const double work : recorded->work()) EXPECT_GT(work, -0.01);
}

}  // namespace
}  // namespace prism::trace
