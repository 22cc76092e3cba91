#include "core/completion/beliefs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "core/completion/closed_forms.h"
#include "core/stats/sample_quantiles.h"

namespace prism::completion {
namespace {

double Cv(const stats::Distribution& law) {
  return std::sqrt(law.Variance()) / law.Mean();
}

TEST(Beliefs, RatesOfUnlikeNodesAddUp) {
  Failures failures = {.nodes = 400, .per_node_day = 0.01, .node_rate_cv = 1.2};
  const auto law = FailureRate(failures, {});
  EXPECT_NEAR(law.Mean() * kSecondsPerDay, 4, 1e-9);
  EXPECT_NEAR(Cv(law), 1.2 / 20, 1e-9);
  failures.level_cv = 0.5;
  const double both = 0.25 + 0.0036 + 0.25 * 0.0036;
  EXPECT_NEAR(Cv(FailureRate(failures, {})), std::sqrt(both), 1e-9);
}

TEST(Beliefs, NodesOwnRatesReplaceTheAverage) {
  const Failures failures = {.nodes = 7,
                             .per_node_day = 5,
                             .of_node = {0.1, 0.3, 0},
                             .node_rate_cv = 0.5};
  const auto law = FailureRate(failures, {});
  EXPECT_NEAR(law.Mean() * kSecondsPerDay, 0.4, 1e-12);
  EXPECT_NEAR(Cv(law), 0.5 * std::sqrt(0.1) / 0.4, 1e-9);
}

// Gamma prior and Poisson count: shape + count, exposure + days.
TEST(Beliefs, FailuresSeenSharpenTheRate) {
  const Failures failures = {.nodes = 10, .per_node_day = 0.1, .level_cv = 0.5};
  const Progress progress = {.failures = 12, .observed_days = 6};
  const auto law = FailureRate(failures, progress);
  EXPECT_NEAR(law.Mean() * kSecondsPerDay, (4.0 + 12) / (4 + 6), 1e-9);
  EXPECT_NEAR(Cv(law), 1 / std::sqrt(16.0), 1e-9);
}

TEST(Beliefs, KnownRateStaysKnown) {
  const Failures failures = {.nodes = 10, .per_node_day = 0.1};
  const Progress progress = {.failures = 50, .observed_days = 1};
  EXPECT_TRUE(FailureRate(failures, progress).IsConstant());
}

// Nodes by number of faults within 348 days (stepfun-ai/InfiniteHBD-Trace,
// Apache-2.0; a part of it that stands for 267 nodes).
TEST(Beliefs, ObservedCountsTellTheSpreadOfRates) {
  const std::pair<int, int> nodes_by_count[] = {
      {0, 113}, {1, 66}, {2, 29}, {3, 21}, {4, 14},
      {5, 6},   {6, 10}, {7, 2},  {8, 5},  {14, 1}};
  std::vector<double> counts;
  for (const auto& [count, nodes] : nodes_by_count) {
    counts.insert(counts.end(), nodes, count);
  }
  EXPECT_NEAR(RateCvFromCounts(counts), kObservedNodeRateCv, 0.005);
  EXPECT_NEAR(stats::SampleMoments(counts).mean / 348, 0.0043, 0.00005);
}

TEST(Beliefs, EvenCountsTellOfNoSpread) {
  const double counts[] = {3, 3, 3, 4};
  EXPECT_EQ(RateCvFromCounts(counts), 0);
}

TEST(Beliefs, ObservedRepairTimeHasItsMedianAndMean) {
  EXPECT_NEAR(ObservedRepairTime().Quantile(0.5) / kSecondsPerDay, 0.78, 1e-9);
  EXPECT_NEAR(ObservedRepairTime().Mean() / kSecondsPerDay, 5.3, 1e-9);
}

// Against the textbook posterior of two normals of which the noisy sum is
// seen. 20,000 draws: 5 standard errors of mean and of deviation.
TEST(Beliefs, TimedStepsSharpenBothFactors) {
  const StepTimes step = {.mean_seconds = 4,
                          .standard_deviation_seconds = 0.4,
                          .run_factor_deviation = 0.02,
                          .job_factor_deviation = 0.03};
  const Progress progress = {.timed_steps = 25, .timed_mean_seconds = 4.2};
  const StepFactors factors(step, progress);
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  constexpr int kDraws = 20000;
  std::vector<double> job(kDraws), sum(kDraws);
  for (int i = 0; i < kDraws; ++i) {
    const auto logs =
        factors.Draw(normal(random), normal(random), normal(random));
    job[i] = logs.job;
    sum[i] = logs.job + logs.present;
  }
  const double vj = std::log1p(0.0009), vr = std::log1p(0.0004);
  const double ve = 0.1 * 0.1 / 25;
  const double total = vj + vr + ve;
  const double surprise = std::log(1.05) + (vj + vr) / 2;
  const double job_variance = vj - vj * vj / total;
  const auto moments = stats::SampleMoments(job);
  EXPECT_NEAR(moments.mean, -vj / 2 + vj / total * surprise,
              5 * std::sqrt(job_variance / kDraws));
  EXPECT_NEAR(moments.standard_deviation, std::sqrt(job_variance),
              5 * std::sqrt(job_variance / 2 / kDraws));
  const double sum_variance = (vj + vr) * ve / total;
  EXPECT_NEAR(stats::SampleMoments(sum).standard_deviation,
              std::sqrt(sum_variance),
              5 * std::sqrt(sum_variance / 2 / kDraws));
}

TEST(Beliefs, NothingSeenLeavesThePrior) {
  const StepTimes step = {.run_factor_deviation = 0.1,
                          .job_factor_deviation = 0.2};
  const auto logs = StepFactors(step, {}).Draw(1, -1, 3);
  const double sj = std::sqrt(std::log1p(0.04)),
               sr = std::sqrt(std::log1p(0.01));
  EXPECT_DOUBLE_EQ(logs.job, sj - sj * sj / 2);
  EXPECT_DOUBLE_EQ(logs.present, -sr - sr * sr / 2);
}

}  // namespace
}  // namespace prism::completion
