#include "core/trace/kineto/breakdown.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/trace/kineto/test_support.h"

namespace prism::kineto {
namespace {

std::vector<StepWindow> Windows(
    std::vector<std::pair<int64_t, int64_t>> edges) {
  std::vector<StepWindow> windows;
  for (const auto& [start, end] : edges)
    windows.push_back({"", 0, start, end, 0});
  return windows;
}

TEST(BreakdownTest, CountsEveryInstantOnce) {
  const KernelTrace trace =
      TraceWriter()
          .Kernel("a", 10, 20, 1)                           // 10 .. 30
          .Kernel("b", 25, 10, 2, 8)                        // 30 .. 35 more
          .Kernel("ncclKernel_AllReduce()", 20, 30, 3, 40)  // 35 .. 50 exposed
          .Copy(45, 10)                                     // 50 .. 55 exposed
          .Read();
  const StepBreakdown step = BreakDown(trace, Windows({{0, 100000}}))[0];
  const PhaseTime sum = step.sum();
  EXPECT_EQ(sum.compute_ns, 25000);
  EXPECT_EQ(sum.exposed_communication_ns, 15000);
  EXPECT_EQ(sum.exposed_copy_ns, 5000);
  EXPECT_EQ(sum.idle_ns, 55000);
  EXPECT_EQ(step.communication_ns, 30000);
}

TEST(BreakdownTest, GivesIdleTimeToThePhaseThatIsWaitedFor) {
  const KernelTrace trace =
      TraceWriter()
          .Operator("autograd::engine::evaluate_function: X", 3, 2, 2)
          .Kernel("forward", 10, 10, 1)
          .Kernel("backward", 50, 10, 4, 7, 2)
          .Read();
  const StepBreakdown step = BreakDown(trace, Windows({{0, 80000}}))[0];
  EXPECT_EQ(step.phases[0].idle_ns, 10000);
  EXPECT_EQ(step.phases[1].idle_ns, 30000 + 20000);
}

TEST(BreakdownTest, SplitsActivitiesAtTheEdges) {
  const KernelTrace trace = TraceWriter().Kernel("a", 50, 100, 1).Read();
  const auto steps = BreakDown(
      trace, Windows({{0, 100000}, {100000, 120000}, {160000, 170000}}));
  EXPECT_EQ(steps[0].sum().compute_ns, 50000);
  EXPECT_EQ(steps[1].sum().compute_ns, 20000);
  EXPECT_EQ(steps[2].sum().compute_ns, 0);
  EXPECT_EQ(steps[2].sum().idle_ns, 10000);
}

// What runs at each nanosecond, asked one by one.
PhaseTime ByInstant(const KernelTrace& trace, const StepWindow& window) {
  PhaseTime sum;
  for (int64_t at = window.start_ns; at < window.end_ns; ++at) {
    bool runs[3] = {};
    for (const Activity& activity : trace.activities)
      if (activity.start_ns <= at && at < activity.end_ns)
        runs[static_cast<size_t>(activity.kind)] = true;
    ++(runs[0]   ? sum.compute_ns
       : runs[1] ? sum.exposed_communication_ns
       : runs[2] ? sum.exposed_copy_ns
                 : sum.idle_ns);
  }
  return sum;
}

TEST(BreakdownTest, AgreesWithEveryInstantOfRandomTraces) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    KernelTrace trace;
    for (uint64_t n = random() % 15; n > 0; --n) {
      Activity activity;
      activity.start_ns = static_cast<int64_t>(random() % 100);
      activity.end_ns = activity.start_ns + static_cast<int64_t>(random() % 30);
      activity.kind = static_cast<ActivityKind>(random() % 3);
      activity.phase = static_cast<Phase>(random() % 3);
      trace.activities.push_back(activity);
    }
    std::sort(trace.activities.begin(), trace.activities.end(),
              [](const Activity& a, const Activity& b) {
                return a.start_ns < b.start_ns;
              });
    const auto windows = Windows({{5, 60}, {60, 90}, {95, 140}});
    const auto steps = BreakDown(trace, windows);
    for (size_t i = 0; i < windows.size(); ++i) {
      const PhaseTime expected = ByInstant(trace, windows[i]);
      const PhaseTime found = steps[i].sum();
      EXPECT_EQ(found.compute_ns, expected.compute_ns);
      EXPECT_EQ(found.exposed_communication_ns,
                expected.exposed_communication_ns);
      EXPECT_EQ(found.exposed_copy_ns, expected.exposed_copy_ns);
      EXPECT_EQ(found.idle_ns, expected.idle_ns);
    }
  }
}

}  // namespace
}  // namespace prism::kineto
