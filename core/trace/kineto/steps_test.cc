#include "core/trace/kineto/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/trace/kineto/test_support.h"

namespace prism::kineto {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Steps of 100 us from 0 on, each with two kernels that end `late` us after the
// step's mark.
TraceWriter MarkedSteps(int steps, int64_t late) {
  TraceWriter writer;
  for (int i = 0; i < steps; ++i) {
    const int64_t begin = 100 * i;
    writer.Annotation("ProfilerStep#" + std::to_string(i + 5), begin, 100)
        .Kernel("a", begin + 10 + std::max<int64_t>(late, 0), 20, begin + 1)
        .Kernel("b", begin + 80 + late, 20, begin + 2);
  }
  return writer;
}

TEST(StepsTest, TakesTheProfilersMarks) {
  const Steps steps = FindSteps(MarkedSteps(3, -10).Read(), {});
  EXPECT_EQ(steps.mark, StepMark::kProfilerStep);
  EXPECT_EQ(steps.clock, StepClock::kHost);
  ASSERT_THAT(steps.windows, SizeIs(3));
  EXPECT_EQ(steps.windows[1].name, "ProfilerStep#6");
  EXPECT_EQ(steps.windows[1].number, 6);
  EXPECT_EQ(steps.windows[1].start_ns, 100000);
  EXPECT_EQ(steps.windows[1].end_ns, 200000);
}

TEST(StepsTest, MeasuresOnTheDeviceWhereTheHostRunsAhead) {
  const KernelTrace trace = MarkedSteps(3, 50).Read();
  const Steps steps = FindSteps(trace, {});
  EXPECT_EQ(steps.clock, StepClock::kDevice);
  ASSERT_THAT(steps.windows, SizeIs(3));
  EXPECT_EQ(steps.windows[0].start_ns, 60000);
  EXPECT_EQ(steps.windows[0].end_ns, 160000);
  EXPECT_EQ(steps.windows[2].end_ns, 350000);
  EXPECT_EQ(steps.windows[2].marked_ns, 100000);
  const Steps host = FindSteps(trace, {{}, StepClock::kHost});
  EXPECT_EQ(host.windows[0].start_ns, 0);
}

TEST(StepsTest, LeavesOutStepsThatLaunchNothing) {
  const Steps steps = FindSteps(
      MarkedSteps(2, -10).Annotation("ProfilerStep#7", 200, 1).Read(), {});
  EXPECT_THAT(steps.windows, SizeIs(2));
  EXPECT_THAT(steps.empty, ElementsAre("ProfilerStep#7"));
}

TEST(StepsTest, FallsBackOnOptimizerSteps) {
  TraceWriter writer;
  for (int i = 0; i < 4; ++i) {
    writer.Annotation("Optimizer.step#Adam.step", 100 * i + 80, 20)
        .Kernel("a", 100 * i + 15, 60, 100 * i + 1);
    if (i == 2) writer.Annotation("Optimizer.step#Other.step", 100 * i, 5);
  }
  const Steps steps = FindSteps(writer.Read(), {});
  EXPECT_EQ(steps.mark, StepMark::kOptimizer);
  ASSERT_THAT(steps.windows, SizeIs(3));
  EXPECT_EQ(steps.windows[0].start_ns, 100000);
  EXPECT_EQ(steps.windows[0].end_ns, 200000);
}

TEST(StepsTest, TakesTheWholeFileWhereNothingIsMarked) {
  const Steps steps = FindSteps(
      TraceWriter().Kernel("a", 50, 10, 1).Kernel("b", 90, 10, 2).Read(), {});
  EXPECT_EQ(steps.mark, StepMark::kWholeFile);
  ASSERT_THAT(steps.windows, SizeIs(1));
  EXPECT_EQ(steps.windows[0].start_ns, 50000);
  EXPECT_EQ(steps.windows[0].end_ns, 100000);
  EXPECT_THAT(FindSteps(TraceWriter().Read(), {}).windows, IsEmpty());
}

TEST(StepsTest, TakesTheAnnotationsThatAreNamed) {
  TraceWriter writer = MarkedSteps(2, -10);
  writer.Annotation("train_step 1", 0, 100).Annotation("train_step 2", 100, 95);
  const Steps steps = FindSteps(writer.Read(), {"train_step", {}});
  EXPECT_EQ(steps.mark, StepMark::kGiven);
  ASSERT_THAT(steps.windows, SizeIs(2));
  EXPECT_EQ(steps.windows[1].end_ns, 195000);
  EXPECT_THAT(FindSteps(writer.Read(), {"nothing", {}}).windows, IsEmpty());
}

}  // namespace
}  // namespace prism::kineto
