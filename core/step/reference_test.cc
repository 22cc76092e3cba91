// The engine against a second simulator, on random profiles.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/stats/sample_quantiles.h"
#include "core/step/random_profile.h"
#include "core/step/reference_simulator.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

constexpr int kReferenceSamples = 4000;
constexpr int kEngineSamples = 20000;

class ReferenceTest : public testing::TestWithParam<uint64_t> {};

// Both are Monte Carlo, with independent draws: the difference of a quantile
// has the variance of both errors together, and 7 quantiles of 40 profiles
// are within 5 standard deviations with probability above 99.98%. The seeds
// are fixed, so a failure is a change, not chance.
TEST_P(ReferenceTest, QuantilesAgreeWithinFiveCombinedErrors) {
  const StepProfile profile = RandomProfile(GetParam());
  ReferenceSimulator reference(profile, GetParam() + 1000);
  std::vector<double> steps(kReferenceSamples);
  for (double& step : steps) step = reference.RandomStep() * 1e-3;
  std::sort(steps.begin(), steps.end());

  const StepTime time =
      SimulateSamples(BuildGraph(profile), kEngineSamples, GetParam());
  for (size_t i = 0; i < kQuantileLevels.size(); ++i) {
    const double level = kQuantileLevels[i];
    const double expected = stats::SortedQuantile(steps, level);
    const double error = std::hypot(stats::SortedQuantileError(steps, level),
                                    time.standard_error_seconds[i]);
    EXPECT_NEAR(time.quantile_seconds[i], expected,
                5 * error + 1e-12 * expected)
        << "p" << 100 * level;
  }
}

TEST_P(ReferenceTest, NominalStepsAreEqual) {
  const StepProfile profile = RandomProfile(GetParam());
  auto nominal = SimulateNominal(BuildGraph(profile));
  ASSERT_TRUE(nominal.ok()) << nominal.status();
  const double expected = ReferenceSimulator(profile, 0).NominalStep() * 1e-3;
  // Equal but for the rounding of sums in another order.
  EXPECT_NEAR(nominal->seconds, expected, 1e-13 * expected);
}

INSTANTIATE_TEST_SUITE_P(RandomProfiles, ReferenceTest,
                         testing::Range<uint64_t>(0, 40));

}  // namespace
}  // namespace prism::step
