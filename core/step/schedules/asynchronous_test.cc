#include "core/step/schedules/asynchronous.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/step/execution_plan.h"
#include "core/step/schedules/continuous_support.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

using stats::Distribution;

ContinuousRun MeasuredRun(int stages, int microbatches) {
  return OneForwardOneBackwardRun(stages, microbatches,
                                  WarmUpSteps(stages, microbatches) + 1);
}

int PeakInFlight(const std::vector<Operation>& order) {
  int now = 0, peak = 0;
  for (const Operation& op : order) {
    now += op.phase == Phase::kForward ? 1 : -1;
    peak = std::max(peak, now);
  }
  return peak;
}

// Memory p - s: arXiv 2006.09503, section 3, of 1f1b, and arXiv 2606.07881,
// abstract: the memory of 1f1b with a flush.
TEST(AsynchronousTest, RandomRunsAreValidAndKeepTheMemoryStated) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 10'000; ++i) {
    const int p = 1 + random() % 12, m = 1 + random() % 24;
    const ContinuousRun run = MeasuredRun(p, m);
    const StepGraph graph = GraphOf(run, ConstantLaws(run, 1, 2));
    ASSERT_TRUE(graph.Validate().ok())
        << graph.Validate() << " p " << p << " m " << m;
    ASSERT_TRUE(PlanExecution(graph).ok()) << "p " << p << " m " << m;
    for (int s = 0; s < p; ++s) {
      ASSERT_EQ(PeakInFlight(run.order[s]), p - s);
    }
  }
}

// What does not depend on a flush: every update follows m backwards.
TEST(AsynchronousTest, UpdatesComeAfterEachStepsBackwards) {
  const ContinuousRun run = OneForwardOneBackwardRun(3, 4, 5);
  for (int s = 0; s < 3; ++s) {
    ASSERT_EQ(run.updates[s].size(), 5u);
    for (int step = 0; step < 5; ++step) {
      const Operation& before = run.order[s][run.updates[s][step] - 1];
      EXPECT_EQ(before.phase, Phase::kBackward);
      EXPECT_EQ(before.microbatch, 4 * step + 3);
    }
  }
}

// arXiv 2006.09503, section 3.1: with m >= p micro-batches a step two versions
// are enough, because at most one update is crossed; arXiv 2606.07881: the
// updates that a micro-batch crosses are bounded by accumulating longer.
TEST(AsynchronousTest, UpdatesCrossedAreBoundedByAccumulation) {
  for (int p : {1, 2, 5, 8}) {
    for (int m = 1; m <= 2 * p; ++m) {
      const ContinuousRun run = OneForwardOneBackwardRun(p, m, 2 * p + 3);
      for (int s = 0; s < p; ++s) {
        EXPECT_EQ(MostUpdatesCrossed(run, s), (p - s - 1 + m - 1) / m)
            << "p " << p << " m " << m << " stage " << s;
        if (m >= p) {
          EXPECT_LE(MostUpdatesCrossed(run, s), 1);
        }
      }
    }
  }
}

// No bubble (arXiv 2006.09503, section 1; 2606.07881, abstract).
TEST(AsynchronousTest, AStepTakesWhatItsOperationsTake) {
  for (int p : {1, 2, 3, 8}) {
    for (int m : {1, 3, 8, 17}) {
      const ContinuousRun run = MeasuredRun(p, m);
      EXPECT_NEAR(
          ConstantSeconds(GraphOf(run, ConstantLaws(run, 1, 2, 0, 0.7))),
          3 * m + 0.7, 1e-9)
          << "p " << p << " m " << m;
    }
  }
}

TEST(AsynchronousTest, OneSlowStageDecidesWhereverItIs) {
  for (int p : {2, 4, 8}) {
    for (int m : {2, p, 3 * p + 1}) {
      const ContinuousRun run = MeasuredRun(p, m);
      for (int slow = 0; slow < p; ++slow) {
        for (double factor : {1.01, 1.5, 4.0}) {
          RunLaws laws = ConstantLaws(run, 1, 2, 0, 0.7);
          laws.forward[slow] = Distribution::MakeConstant(factor);
          laws.backward[slow] = Distribution::MakeConstant(2 * factor);
          EXPECT_NEAR(ConstantSeconds(GraphOf(run, laws)), 3 * m * factor + 0.7,
                      1e-9)
              << "p " << p << " m " << m << " slow " << slow << " factor "
              << factor;
        }
      }
    }
  }
}

// The first stage has p micro-batches under way, and a round through all stages
// and back takes 2 (p - 1) hops.
TEST(AsynchronousTest, HopsDelayWhatIsUnderWay) {
  for (int p : {2, 4, 8}) {
    const double hops = 2 * (p - 1) * 0.2 / p;
    for (int m : {p, 3 * p}) {
      const ContinuousRun run = MeasuredRun(p, m);
      EXPECT_NEAR(
          ConstantSeconds(GraphOf(run, ConstantLaws(run, 1, 2, 0.2, 0.7))),
          (3 + hops) * m + 0.7, 1e-9)
          << "p " << p << " m " << m;
    }
  }
}

// After the warm-up the mean step is as long as after three times as many.
// Both means have errors of about a ten thousandth here.
TEST(AsynchronousTest, TheWarmUpReachesTheSteadyState) {
  for (int p : {2, 6}) {
    for (int m : {3, p, 4 * p}) {
      const int warm_up = WarmUpSteps(p, m);
      std::vector<StepTime> times;
      for (int steps : {warm_up + 1, 3 * warm_up + 1}) {
        const ContinuousRun run = OneForwardOneBackwardRun(p, m, steps);
        RunLaws laws = ConstantLaws(run, 1, 2);
        laws.forward.assign(p, Distribution::MakeGamma(1, 0.2));
        laws.backward.assign(p, Distribution::MakeGamma(2, 0.2));
        times.push_back(SimulateSamples(GraphOf(run, laws), 40'000));
      }
      const auto error = [](const StepTime& time) {
        return time.standard_deviation_seconds / std::sqrt(40'000.0);
      };
      EXPECT_NEAR(times[0].mean_seconds, times[1].mean_seconds,
                  4 * std::hypot(error(times[0]), error(times[1])))
          << "p " << p << " m " << m;
    }
  }
}

}  // namespace
}  // namespace prism::step
