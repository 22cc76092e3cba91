#include "core/stats/distribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace prism::stats {
namespace {

struct Case {
  std::string name;
  Distribution distribution;
};

std::vector<Case> Cases() {
  using D = Distribution;
  return {
      {"normal", D::MakeNormal(5, 1)},
      {"cut_normal", D::MakeNormal(1, 2)},
      {"lognormal", D::MakeLognormal(3, 0.5)},
      {"late", D::MakeShiftedExponential(1, 0.5)},
      {"gamma", D::MakeGamma(2, 0.3)},
      {"wide_gamma", D::MakeGamma(2, 3)},
      {"empirical", D::MakeEmpirical({3, 1, 2, 2, 10})},
      {"mixture",
       D::MakeMixture({{3, D::MakeGamma(1, 0.1)}, {1, D::MakeNormal(4, 1)}})},
  };
}

class DistributionTest : public testing::TestWithParam<Case> {};

TEST_P(DistributionTest, QuantileInvertsCdf) {
  const Distribution& d = GetParam().distribution;
  for (double p : {0.001, 0.05, 0.3, 0.5, 0.7, 0.95, 0.999}) {
    const double x = d.Quantile(p);
    EXPECT_GE(d.Cdf(x * (1 + 1e-9)), p - 1e-9);
    if (x > 0) {
      EXPECT_LE(d.Cdf(x * (1 - 1e-9)), p + 1e-6);
    }
  }
}

// Moments are the integrals of the quantile function over (0, 1).
TEST_P(DistributionTest, MomentsMatchQuantiles) {
  const Distribution& d = GetParam().distribution;
  const int n = 40000;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const double x = d.Quantile((i + 0.5) / n);
    sum += x;
    squares += x * x;
  }
  const double mean = sum / n;
  EXPECT_NEAR(mean, d.Mean(), 1e-3 * d.Mean());
  EXPECT_NEAR(squares / n - mean * mean, d.Variance(), 3e-2 * d.Variance());
}

TEST_P(DistributionTest, ScalingScalesQuantilesAndMoments) {
  const Distribution& d = GetParam().distribution;
  const Distribution scaled = d.ScaledBy(2.5);
  EXPECT_NEAR(scaled.Quantile(0.3), 2.5 * d.Quantile(0.3), 1e-9);
  EXPECT_NEAR(scaled.Mean(), 2.5 * d.Mean(), 1e-12 * scaled.Mean());
  EXPECT_NEAR(scaled.Variance(), 6.25 * d.Variance(),
              1e-12 * scaled.Variance());
  EXPECT_NEAR(scaled.StatedMean(), 2.5 * d.StatedMean(), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(All, DistributionTest, testing::ValuesIn(Cases()),
                         [](const auto& test) { return test.param.name; });

TEST(DistributionTest, StatedMeanOfNormalIgnoresTheCut) {
  const Distribution d = Distribution::MakeNormal(1, 2);
  EXPECT_EQ(d.StatedMean(), 1);
  EXPECT_GT(d.Mean(), 1.3);
}

TEST(DistributionTest, ZeroSpreadIsConstant) {
  EXPECT_TRUE(Distribution::MakeConstant(3).IsConstant());
  EXPECT_TRUE(Distribution::MakeNormal(3, 0).IsConstant());
  EXPECT_TRUE(Distribution::MakeLognormal(3, 0).IsConstant());
  EXPECT_TRUE(Distribution::MakeGamma(3, 0).IsConstant());
  EXPECT_TRUE(Distribution::MakeEmpirical({3, 3}).IsConstant());
  EXPECT_FALSE(Distribution::MakeEmpirical({3, 4}).IsConstant());
  EXPECT_FALSE(Distribution::MakeNormal(3, 0.1).IsConstant());
}

TEST(DistributionTest, MixturesFlattenAndNormalise) {
  using D = Distribution;
  const D inner =
      D::MakeMixture({{1, D::MakeConstant(1)}, {1, D::MakeConstant(2)}});
  const D outer = D::MakeMixture(
      {{2, inner}, {2, D::MakeConstant(3)}, {0, D::MakeConstant(9)}});
  const auto& parts = *std::get<Mixture>(outer.kind()).components;
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].weight, 0.25);
  EXPECT_EQ(parts[2].weight, 0.5);
  EXPECT_EQ(outer.Mean(), 2.25);
}

TEST(DistributionTest, NothingIsBelowZero) {
  EXPECT_EQ(Distribution::MakeNormal(1, 2).Cdf(-0.1), 0);
  EXPECT_EQ(Distribution::MakeNormal(1, 2).Quantile(0.1), 0);
}

// Intermediate results of the gamma function overflow there.
TEST(DistributionTest, NarrowGammaFarBelowItsMeanIsZero) {
  const Distribution narrow = Distribution::MakeGamma(1, 0.008);
  for (const double x : {1e-30, 1e-6, 0.1, 0.5}) EXPECT_EQ(narrow.Cdf(x), 0);
  EXPECT_EQ(narrow.Cdf(1e30), 1);
  const Distribution mixed = Distribution::MakeMixture(
      {{1, narrow}, {1, Distribution::MakeConstant(1e-6)}});
  EXPECT_NEAR(mixed.Quantile(0.75), 1, 0.001);
}

}  // namespace
}  // namespace prism::stats
