// Jobs of every schedule, by structure and by Monte Carlo.

#include <gtest/gtest.h>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/estimate/estimate.h"
#include "core/estimate/testing/pipelined_job.h"
#include "core/estimate/testing/random_jobs.h"
#include "core/step/simulate.h"

namespace prism::estimate {
namespace {

using workload::Schedule;

// Both on the same job; they draw independently. The quantiles of 4,000 samples
// are off by at most as many standard errors, the structured method by 7.5% of
// the distance between the quartiles (core/step/composition/agreement_test.cc).
TEST(ScheduleSimulationTest, MethodsAgreeOnEverySchedule) {
  for (const Schedule schedule : testing::AllSchedules()) {
    const auto estimate =
        BuildEstimate(testing::Pipelined(schedule), testing::DgxA100(4), {});
    ASSERT_TRUE(estimate.ok()) << estimate.status();
    const step::StepGraph& graph = estimate->graph;
    base::InlineExecutor executor;
    const auto simulate = [&](step::Method method) {
      step::SimulationOptions options;
      options.method = method;
      options.random_key = 7;
      if (method == step::Method::kMonteCarlo) options.samples = 4000;
      const auto time =
          step::Simulate(graph, options, base::UnlimitedBudget(), executor);
      EXPECT_TRUE(time.ok()) << time.status();
      return *time;
    };
    const step::StepTime composed = simulate(step::Method::kAuto);
    const step::StepTime sampled = simulate(step::Method::kMonteCarlo);
    const auto& expected = sampled.quantile_seconds;
    const double spread = expected[4] - expected[2];
    for (size_t i = 1; i < step::kQuantileLevels.size(); ++i) {
      EXPECT_NEAR(composed.quantile_seconds[i], expected[i],
                  0.075 * spread + 4 * sampled.standard_error_seconds[i] +
                      3 * composed.standard_error_seconds[i])
          << "schedule " << static_cast<int>(schedule) << " p"
          << 100 * step::kQuantileLevels[i];
    }
  }
}

}  // namespace
}  // namespace prism::estimate
