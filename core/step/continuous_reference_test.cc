// The engine against a second simulator, on random profiles whose steps follow
// each other without a flush.

#include "core/step/continuous_reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/stats/sample_quantiles.h"
#include "core/step/random_profile.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

constexpr int kReferenceSamples = 4000;
constexpr int kEngineSamples = 20000;

// A random profile with one of the continuous schedules in place of its own.
StepProfile RandomContinuousProfile(uint64_t seed) {
  constexpr std::array kKinds = {ScheduleKind::kTwoBufferedWeights,
                                 ScheduleKind::kBubbleFree,
                                 ScheduleKind::kRoundRobin};
  StepProfile profile = RandomProfile(seed);
  profile.schedule = kKinds[seed % kKinds.size()];
  profile.order.clear();
  profile.stage_of.clear();
  profile.activation_limit.reset();
  profile.virtual_stages = 1;
  if (profile.schedule == ScheduleKind::kRoundRobin) {
    profile.virtual_stages = 1 + static_cast<int>(seed / 3 % 2);
    if (seed % 4 < 2) {
      profile.weight_upload =
          stats::Distribution::MakeGamma(3.0 * profile.microbatches, 0.1);
    }
  }
  if (profile.schedule == ScheduleKind::kTwoBufferedWeights) {
    profile.microbatches = std::max(profile.microbatches, profile.pipeline);
  }
  if (!profile.stage_scale.empty()) {
    profile.stage_scale.resize(profile.pipeline * profile.virtual_stages, 1.3);
  }
  return profile;
}

class ContinuousReferenceTest : public testing::TestWithParam<uint64_t> {};

// As in reference_test.cc: 7 quantiles of 24 profiles are within 5 standard
// deviations of both with probability above 99.99%; the seeds are fixed.
TEST_P(ContinuousReferenceTest, QuantilesAgreeWithinFiveCombinedErrors) {
  const StepProfile profile = RandomContinuousProfile(GetParam());
  ContinuousReference reference(profile, GetParam() + 1000);
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
    // Differences of two ends have the rounding of the ends.
    EXPECT_NEAR(time.quantile_seconds[i], expected,
                5 * error + 1e-11 * expected)
        << NameOf(profile.schedule) << " p" << 100 * level;
  }
}

TEST_P(ContinuousReferenceTest, NominalStepsAreEqual) {
  const StepProfile profile = RandomContinuousProfile(GetParam());
  const auto nominal = SimulateNominal(BuildGraph(profile));
  ASSERT_TRUE(nominal.ok()) << nominal.status();
  const double expected = ContinuousReference(profile, 0).NominalStep() * 1e-3;
  EXPECT_NEAR(nominal->seconds, expected, 1e-11 * expected);
  double sum = 0;
  for (const auto& [kind, seconds] : nominal->by_kind) {
    EXPECT_GE(seconds, 0) << kind;
    sum += seconds;
  }
  EXPECT_NEAR(sum, nominal->seconds, 1e-11 * expected);
}

INSTANTIATE_TEST_SUITE_P(RandomProfiles, ContinuousReferenceTest,
                         testing::Range<uint64_t>(0, 24));

}  // namespace
}  // namespace prism::step
