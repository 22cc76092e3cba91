#include "core/step/composition/sharded_law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/stats/normal.h"

namespace prism::step {
namespace {

using stats::Distribution;

// The mean and the variance of the maximum of n unit exponentials are sums of
// 1 / k and 1 / k^2.
TEST(TailLawTest, MaximumOfExponentialsHasHarmonicMoments) {
  const TailLaw one = TailLaw::Of(Distribution::MakeShiftedExponential(0, 1));
  for (int n : {1, 2, 64, 4096}) {
    double mean = 0, variance = 0;
    for (int k = 1; k <= n; ++k) {
      mean += 1.0 / k;
      variance += 1.0 / (static_cast<double>(k) * k);
    }
    const TailLaw latest = one.MaximumOf(n);
    EXPECT_NEAR(latest.mean(), mean, 0.003 * std::sqrt(variance)) << n;
    EXPECT_NEAR(latest.variance(), variance, 1e-2) << n;
  }
}

TEST(TailLawTest, MaximumHasThePowerOfTheDistributionFunction) {
  const TailLaw one = TailLaw::Of(Distribution::MakeLognormal(1, 0.3));
  const TailLaw latest = one.MaximumOf(500);
  for (double x : {1.8, 2.2, 2.8}) {
    EXPECT_NEAR(latest.Below(x), std::pow(one.Below(x), 500), 2e-3) << x;
  }
}

TEST(TailLawTest, RareStallsKeepTheirWeightInAMaximum) {
  constexpr double kWeight = 1e-5;
  const TailLaw one = TailLaw::Of(Distribution::MakeMixture(
      {{1 - kWeight, Distribution::MakeLognormal(1, 0.02)},
       {kWeight, Distribution::MakeLognormal(30, 0.1)}}));
  for (double n : {16.0, 4096.0}) {
    EXPECT_NEAR(one.MaximumOf(n).Above(10) / -std::expm1(-n * kWeight), 1, 5e-3)
        << n;
  }
}

TEST(TailLawTest, SamplesAreJumps) {
  const TailLaw law = TailLaw::Of(Distribution::MakeEmpirical({1, 2, 4, 4}));
  EXPECT_LT(law.Below(0.999), 1e-100);
  EXPECT_NEAR(law.Below(1), 0.25, 1e-12);
  EXPECT_NEAR(law.Below(1.999), 0.25, 1e-12);
  EXPECT_NEAR(law.Below(3.999), 0.5, 1e-12);
  EXPECT_DOUBLE_EQ(law.Below(4), 1);
}

TEST(TailLawTest, ValuesAtScoresAreQuantiles) {
  const auto samples = Distribution::MakeEmpirical({1, 2, 4, 8});
  const auto gamma = Distribution::MakeGamma(3, 0.5);
  const std::vector<double> scores = {-2, -1, -0.3, 0.1, 0.5, 1.5, 3};
  const ScoreTargets targets(scores);
  const auto at_samples = TailLaw::Of(samples).AtScores(targets);
  const auto at_gamma = TailLaw::Of(gamma).AtScores(targets);
  for (size_t i = 0; i < scores.size(); ++i) {
    const double p = stats::NormalCdf(scores[i]);
    EXPECT_NEAR(at_samples[i], samples.Quantile(p), 1e-6) << scores[i];
    EXPECT_NEAR(at_gamma[i], gamma.Quantile(p), 2e-3) << scores[i];
  }
}

TEST(TailLawTest, ScalingActsOnMeanAndSpread) {
  const TailLaw law = TailLaw::Of(Distribution::MakeNormal(10, 1)).Affine(3, 5);
  EXPECT_NEAR(law.mean(), 35, 1e-9);
  EXPECT_NEAR(law.variance(), 9, 1e-9);
  EXPECT_NEAR(law.Below(38), stats::NormalCdf(1), 1e-4);
}

// A sum of three unit exponentials has P(X > x) = e^-x (1 + x + x^2 / 2).
TEST(SumOfTest, KeepsTheTailOfASumOfExponentials) {
  const TailLaw one = TailLaw::Of(Distribution::MakeShiftedExponential(0, 1));
  const std::array<RepeatedLaw, 1> terms = {{{&one, 3}}};
  const TailLaw sum = SumOf(terms, 1e-8, base::UnlimitedBudget());
  EXPECT_NEAR(sum.mean(), 3, 0.003 * std::sqrt(3.0));
  for (double x : {1.0, 3.0, 8.0, 16.0}) {
    const double above = std::exp(-x) * (1 + x + x * x / 2);
    EXPECT_NEAR(sum.Above(x) / above, 1, 0.02) << x;
  }
}

TEST(SumOfTest, CountsRareStalls) {
  constexpr double kWeight = 2e-3;
  const TailLaw one = TailLaw::Of(Distribution::MakeMixture(
      {{1 - kWeight, Distribution::MakeLognormal(1, 0.05)},
       {kWeight, Distribution::MakeConstant(9)}}));
  const std::array<RepeatedLaw, 1> terms = {{{&one, 40}}};
  const TailLaw sum = SumOf(terms, 1e-6, base::UnlimitedBudget());
  // Binomial: at least one stall, at least two.
  const double none = std::pow(1 - kWeight, 40);
  const double single = 40 * kWeight * std::pow(1 - kWeight, 39);
  EXPECT_NEAR(sum.Above(44), 1 - none, 1e-4);
  EXPECT_NEAR(sum.Above(52), 1 - none - single, 1e-4);
}

TEST(SumOfTest, AddsMeansAndVariancesOfUnlikeTerms) {
  const TailLaw gamma = TailLaw::Of(Distribution::MakeGamma(2, 0.3));
  const TailLaw normal = TailLaw::Of(Distribution::MakeNormal(5, 0.2));
  const std::array<RepeatedLaw, 2> terms = {{{&gamma, 20}, {&normal, 7}}};
  const TailLaw sum = SumOf(terms, 1e-6, base::UnlimitedBudget());
  EXPECT_NEAR(sum.mean(), 75, 1e-6);
  EXPECT_NEAR(sum.variance(), 20 * 0.36 + 7 * 0.04, 1e-3);
}

TEST(SumOfTest, IsTheLawItselfForOneRandomTerm) {
  const TailLaw late = TailLaw::Of(Distribution::MakeShiftedExponential(1, 2));
  const TailLaw constant = TailLaw::Of(Distribution::MakeConstant(4));
  const std::array<RepeatedLaw, 2> terms = {{{&late, 1}, {&constant, 3}}};
  const TailLaw sum = SumOf(terms, 1e-8, base::UnlimitedBudget());
  EXPECT_NEAR(sum.Above(20), std::exp(-(20.0 - 13) / 2), 1e-3);
}

TEST(HazardTableTest, FollowsTheLawInBodyAndTail) {
  const TailLaw law = TailLaw::Of(Distribution::MakeGamma(4, 0.4));
  const HazardTable table(law);
  for (double x : {1.0, 3.0, 6.0, 10.0, 14.0}) {
    EXPECT_NEAR(table.At(x) / law.Hazard(x), 1, 5e-3) << x;
  }
  EXPECT_EQ(table.At(1e9), 0);
}

TEST(HazardTableTest, RowsAddWhatSingleValuesDo) {
  constexpr size_t kNodes = 88;
  const auto gamma = Distribution::MakeGamma(4, 0.4);
  const auto jumps = Distribution::MakeEmpirical({1, 2, 2, 9});
  for (const auto& distribution : {gamma, jumps}) {
    const HazardTable table(TailLaw::Of(distribution));
    // From below all values to far above them.
    const double first = -0.517, step = 0.4;
    std::vector<float> row(kNodes, 1.0f);
    table.AddTo(first, step, 3, kNodes, row.data());
    for (size_t i = 0; i < kNodes; ++i) {
      const double one = table.At(first + step * static_cast<double>(i));
      EXPECT_NEAR(row[i], 1 + 3 * one, 1e-4 * (1 + 3 * one)) << i;
    }
  }
}

// Each node stands for one in 2,048 at most, and for little of what is beyond.
TEST(TailLawTest, ManySamplesAreThinnedWithinOneInTwoThousand) {
  constexpr int kSamples = 1000000;
  std::vector<double> samples(kSamples);
  for (int i = 0; i < kSamples; ++i) {
    samples[i] = std::exp(stats::NormalQuantile((i + 0.5) / kSamples));
    // A hump, and a tenth of one value.
    if (i > kSamples * 4 / 5 && i < kSamples * 9 / 10) samples[i] = 3;
  }
  std::sort(samples.begin(), samples.end());
  const TailLaw law = TailLaw::OfSamples(samples);
  for (double x : {0.01, 0.2, 1.0, 2.999, 3.0, 9.0, 80.0}) {
    const auto below =
        std::upper_bound(samples.begin(), samples.end(), x) - samples.begin();
    const double above = static_cast<double>(kSamples - below) / kSamples;
    EXPECT_NEAR(law.Above(x), above, std::min(5e-4, 0.1 * above)) << x;
    EXPECT_NEAR(law.Below(x), 1 - above, std::min(5e-4, 0.1 * (1 - above)))
        << x;
  }
  EXPECT_EQ(law.low(), samples.front());
  EXPECT_EQ(law.high(), samples.back());
}

}  // namespace
}  // namespace prism::step
