#include "core/stats/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace prism::stats {
namespace {

constexpr size_t kSamples = 4000;

std::vector<double> Draw(const Distribution& law, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(1e-12, 1);
  std::vector<double> samples;
  for (size_t i = 0; i < kSamples; ++i)
    samples.push_back(law.Quantile(uniform(random)));
  return samples;
}

struct Case {
  FitFamily family;
  Distribution law;
};

std::vector<Case> Cases() {
  return {{FitFamily::kNormal, Distribution::MakeNormal(10, 2)},
          {FitFamily::kGamma, Distribution::MakeGamma(3, 0.9)},
          {FitFamily::kLognormal, Distribution::MakeLognormal(0.02, 0.6)},
          {FitFamily::kShiftedExponential,
           Distribution::MakeShiftedExponential(5, 2)},
          {FitFamily::kCoreTail,
           Distribution::MakeMixture(
               {{0.9, Distribution::MakeLognormal(1, 0.1)},
                {0.1, Distribution::MakeShiftedExponential(5, 3)}})},
          {FitFamily::kEmpirical, Distribution::MakeGamma(1, 0.3)}};
}

// A fit from n samples lies within about the Kolmogorov bound of 1.95 /
// sqrt(n), passed with a probability of 0.001, of the law they came from.
TEST(FitTest, RecoversTheLawThatSamplesCameFrom) {
  for (const Case& c : Cases()) {
    const Fit fit = FitDistribution(Draw(c.law, 1), c.family);
    const std::string name(FitFamilyName(c.family));
    EXPECT_EQ(fit.family, c.family) << name;
    EXPECT_LT(fit.distance, 1.95 / std::sqrt(kSamples)) << name;
    std::vector<double> others = Draw(c.law, 2);
    std::sort(others.begin(), others.end());
    EXPECT_LT(KolmogorovSmirnovDistance(others, fit.distribution),
              2 * 1.95 / std::sqrt(kSamples))
        << name;
    EXPECT_NEAR(fit.distribution.Mean() / c.law.Mean(), 1, 0.06) << name;
    EXPECT_NEAR(std::sqrt(fit.distribution.Variance() / c.law.Variance()), 1,
                0.1)
        << name;
  }
}

TEST(FitTest, BestIsAsCloseAsAnyOther) {
  for (const Case& c : Cases()) {
    const std::vector<double> samples = Draw(c.law, 3);
    const Fit best = FitDistribution(samples, FitFamily::kBest);
    for (const FitFamily family : FitFamilies()) {
      if (family == FitFamily::kEmpirical) continue;
      EXPECT_LE(best.distance, FitDistribution(samples, family).distance);
    }
    EXPECT_NE(best.family, FitFamily::kBest);
  }
}

TEST(FitTest, WrongFamilyIsFar) {
  const std::vector<double> samples =
      Draw(Distribution::MakeShiftedExponential(5, 2), 1);
  EXPECT_GT(FitDistribution(samples, FitFamily::kNormal).distance, 0.1);
}

TEST(FitTest, EqualSamplesAreAConstant) {
  for (const FitFamily family : FitFamilies()) {
    for (const double value : {0.0, 3.0}) {
      const Fit fit = FitDistribution({value, value, value}, family);
      EXPECT_TRUE(fit.distribution.IsConstant());
      EXPECT_EQ(fit.distribution.Mean(), value);
    }
  }
}

TEST(FitTest, FewOrOddSamplesGiveFiniteLaws) {
  for (const FitFamily family : FitFamilies()) {
    for (const std::vector<double>& samples : {std::vector<double>{1, 2},
                                               {0, 0, 1},
                                               {1e-9, 1e9},
                                               {1, 1 + 1e-13, 1},
                                               {1, 1, 1, 1, 100}}) {
      const Fit fit = FitDistribution(samples, family);
      EXPECT_TRUE(std::isfinite(fit.distribution.Mean()));
      EXPECT_TRUE(std::isfinite(fit.distribution.Variance()));
      EXPECT_GE(fit.distribution.Quantile(0.01), 0);
      EXPECT_GE(fit.distance, 0);
      EXPECT_LE(fit.distance, 1);
    }
  }
}

TEST(FitTest, ManySamplesAreKeptAsTheirQuantiles) {
  const Fit fit = FitDistribution(Draw(Distribution::MakeGamma(2, 0.5), 4),
                                  FitFamily::kEmpirical);
  const auto& kept = std::get<Empirical>(fit.distribution.kind());
  EXPECT_EQ(kept.sorted_samples->size(), kMostSamples);
  EXPECT_LE(fit.distance, 1.01 / kMostSamples);
}

TEST(FitTest, NamesReadBack) {
  for (const FitFamily family : FitFamilies())
    EXPECT_EQ(FitFamilyNamed(FitFamilyName(family)), family);
  EXPECT_EQ(FitFamilyNamed("cauchy"), std::nullopt);
}

TEST(FitTest, DistanceIsTheLargestGapOfTheFunctions) {
  const std::vector<double> a = {1, 2, 3, 4}, b = {3, 4, 5, 6}, c = {9};
  EXPECT_DOUBLE_EQ(KolmogorovSmirnovDistance(a, b), 0.5);
  EXPECT_DOUBLE_EQ(KolmogorovSmirnovDistance(a, a), 0);
  EXPECT_DOUBLE_EQ(KolmogorovSmirnovDistance(a, c), 1);
  EXPECT_DOUBLE_EQ(KolmogorovSmirnovDistance(a, Distribution::MakeConstant(2)),
                   0.5);
  EXPECT_DOUBLE_EQ(
      KolmogorovSmirnovDistance(a, Distribution::MakeEmpirical({1, 2, 3, 4})),
      0);
}

}  // namespace
}  // namespace prism::stats
