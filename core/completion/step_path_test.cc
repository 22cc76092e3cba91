#include "core/completion/step_path.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "core/stats/normal.h"
#include "core/stats/sample_quantiles.h"

namespace prism::completion {
namespace {

StepTimes Skewed() {
  return {.mean_seconds = 2,
          .standard_deviation_seconds = 0.3,
          .levels = {0.05, 0.25, 0.5, 0.75, 0.95},
          .quantile_seconds = {1.7, 1.8, 1.9, 2.1, 2.7},
          .autocorrelation = 0.6};
}

// 200,000 scores: 5 standard errors of mean and, at a kurtosis below 8, of the
// deviation.
TEST(StepCurve, HasTheStatedMeanAndDeviation) {
  const StepCurve curve(Skewed());
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> seconds(200'000);
  for (double& s : seconds) s = curve(normal(random));
  const auto moments = stats::SampleMoments(seconds);
  EXPECT_NEAR(moments.mean, 2, 5 * 0.3 / std::sqrt(2e5));
  EXPECT_NEAR(moments.standard_deviation, 0.3,
              5 * 0.3 * std::sqrt(7 / 4.0 / 2e5));
}

TEST(StepCurve, KeepsTheShapeOfTheQuantiles) {
  const StepCurve curve(Skewed());
  const double below = curve(0) - curve(-1.6449),
               above = curve(1.6449) - curve(0);
  EXPECT_NEAR(above / below, (2.7 - 1.9) / (1.9 - 1.7), 1e-3);
}

// A step with stalls: sd 2.4%, of which quantiles to p99 show 0.4%.
TEST(StepCurve, RareStepsAreBeyondTheQuantiles) {
  const StepTimes step = {
      .mean_seconds = 11.01,
      .standard_deviation_seconds = 0.26,
      .levels = {0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99},
      .quantile_seconds = {10.89, 10.92, 10.97, 11, 11.03, 11.08, 11.11}};
  const StepCurve curve(step);
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> seconds(200'000);
  for (double& s : seconds) s = curve(normal(random));
  const auto moments = stats::SampleMoments(seconds);
  EXPECT_NEAR(moments.mean, 11.01, 5 * 0.26 / std::sqrt(2e5));
  EXPECT_NEAR(moments.standard_deviation, 0.26, 0.26 * 0.15);
  // What the rare steps add to the mean moves all others by 0.1%.
  for (size_t i = 0; i < step.levels.size(); ++i) {
    EXPECT_NEAR(curve(stats::NormalQuantile(step.levels[i])),
                step.quantile_seconds[i], 0.01)
        << step.levels[i];
  }
}

// The correlation of neighbours' times from 400,000 pairs; its standard error
// is below 3 / sqrt(n) for any law with a kurtosis below 10.
TEST(StepCurve, NeighboursHaveTheStatedCorrelation) {
  for (double wanted : {-0.4, 0.0, 0.6, 0.95}) {
    StepTimes step = Skewed();
    step.autocorrelation = wanted;
    const StepCurve curve(step);
    const double r = curve.ScoreCorrelation();
    std::mt19937_64 random(2);
    std::normal_distribution<double> normal;
    constexpr int kPairs = 400'000;
    double product = 0;
    for (int i = 0; i < kPairs; ++i) {
      const double a = normal(random);
      const double b = r * a + std::sqrt(1 - r * r) * normal(random);
      product += (curve(a) - 2) * (curve(b) - 2) / 0.09;
    }
    EXPECT_NEAR(product / kPairs, wanted, 5 * 3 / std::sqrt(kPairs)) << wanted;
  }
}

// Where nothing is random, path and course agree on everything.
TEST(StepPath, AgreesWithTheCourseWithoutSpread) {
  RunPlan plan;
  plan.steps = 100;
  plan.step.mean_seconds = 2;
  plan.evaluations = {.every_steps = 7,
                      .seconds = stats::Distribution::MakeConstant(11),
                      .after = {.steps = 2, .factor = 1.5}};
  plan.checkpoints = {.blocking_seconds = 4, .non_blocking_seconds = 9};
  plan.restarts.after = {.steps = 3, .factor = 2};
  StepPath::Scratch scratch;
  for (int64_t interval : {0, 10, 25}) {
    const Course course(plan, interval);
    const StepPath path(plan, course);
    for (int64_t from : {0, 14, 25, 99}) {
      for (double limit = 0.1; limit < 700; limit += 2.9) {
        for (bool save_all : {false, true}) {
          const Reached a = course.Run(from, true, 1.5, 0, limit, save_all);
          const Reached b =
              path.Run({}, from, true, 1.5, limit, save_all, scratch);
          ASSERT_EQ(a.finished, b.finished) << limit;
          ASSERT_EQ(a.saved, b.saved) << limit;
          ASSERT_NEAR(a.seconds, b.seconds, 1e-9);
          ASSERT_NEAR(a.writing_seconds, b.writing_seconds, 1e-9);
          ASSERT_NEAR(a.slow_start_seconds, b.slow_start_seconds, 1e-9);
        }
      }
    }
  }
}

}  // namespace
}  // namespace prism::completion
