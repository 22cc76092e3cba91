#include "core/placement/step_law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "core/stats/normal.h"

namespace prism::placement {
namespace {

step::StepTime NormalStep(double mean, double deviation) {
  step::StepTime law;
  law.mean_seconds = mean;
  law.standard_deviation_seconds = deviation;
  for (size_t i = 0; i < step::kQuantileLevels.size(); ++i) {
    law.quantile_seconds[i] =
        mean + deviation * stats::NormalQuantile(step::kQuantileLevels[i]);
    law.standard_error_seconds[i] = 0.001;
  }
  return law;
}

TEST(StepLawTest, QuantilesOfANormalAreItsOwn) {
  const step::StepTime law = NormalStep(10, 0.5);
  for (const double p : {0.001, 0.03, 0.4, 0.9, 0.97, 0.999}) {
    EXPECT_NEAR(QuantileOf(law, p), 10 + 0.5 * stats::NormalQuantile(p), 1e-9);
  }
}

TEST(StepLawTest, MovesWithTheEvaluatedMean) {
  const StepLaw law(NormalStep(10, 0.5), {.mean = 9.9, .variance = 0});
  const step::StepTime same = law.Moved({.mean = 9.9, .variance = 0});
  EXPECT_DOUBLE_EQ(same.mean_seconds, 10);
  EXPECT_DOUBLE_EQ(same.quantile_seconds[5],
                   NormalStep(10, 0.5).quantile_seconds[5]);
  // What all ranks share stretches with the step.
  const step::StepTime later = law.Moved({.mean = 10.9, .variance = 0});
  EXPECT_DOUBLE_EQ(later.mean_seconds, 11);
  EXPECT_NEAR(later.standard_deviation_seconds, 0.55, 1e-9);
}

TEST(StepLawTest, ReplicasOwnSpreadIsAdded) {
  const StepLaw law(NormalStep(10, 0.5), {.mean = 10, .variance = 0.09});
  EXPECT_NEAR(
      law.Moved({.mean = 10, .variance = 0.34}).standard_deviation_seconds,
      std::sqrt(0.5), 1e-9);
}

// A normal whose mean is normal is a normal.
TEST(StepLawTest, MixesOverScenarios) {
  const StepLaw law(NormalStep(10, 0.3), {.mean = 10, .variance = 0});
  std::vector<double> means;
  for (int i = 0; i < 1024; ++i) {
    means.push_back(10 + 0.4 * stats::NormalQuantile((i + 0.5) / 1024));
  }
  const step::StepTime mixed = law.Mixed({.mean = 10, .variance = 0}, means);
  const step::StepTime expected = NormalStep(10, 0.5);
  EXPECT_NEAR(mixed.standard_deviation_seconds, 0.5, 0.002);
  for (size_t i = 0; i < step::kQuantileLevels.size(); ++i) {
    // Two dozen bins stand for the scenarios: a twentieth of the deviation.
    EXPECT_NEAR(mixed.quantile_seconds[i], expected.quantile_seconds[i], 0.025)
        << i;
  }
}

TEST(StepLawTest, WithoutDoubtNothingIsMixed) {
  const StepLaw law(NormalStep(10, 0.3), {.mean = 10, .variance = 0});
  const std::vector<double> means = {10, 10, 10};
  EXPECT_EQ(law.Mixed({.mean = 10, .variance = 0}, means).quantile_seconds,
            law.Moved({.mean = 10, .variance = 0}).quantile_seconds);
}

}  // namespace
}  // namespace prism::placement
