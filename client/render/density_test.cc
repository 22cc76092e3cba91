#include "client/render/density.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace prism::render {
namespace {

// Normal scores of p01, p05, p25, p50, p75, p95, p99.
const std::vector<double> kScores = {-2.3263, -1.6449, -0.6745, 0,
                                     0.6745,  1.6449,  2.3263};

TEST(DensityTest, ANormalDistributionIsTheBellCurve) {
  const int bins = 31;
  const std::vector<double> density = RelativeDensity(kScores, kScores, bins);
  for (int bin = 0; bin < bins; ++bin) {
    const double x = kScores[0] * (1 - 2 * (bin + 0.5) / bins);
    EXPECT_NEAR(density[bin], std::exp(-x * x / 2), 0.01) << bin;
  }
}

TEST(DensityTest, ASkewedDistributionHasOnePeak) {
  // Quantiles of the exponential distribution.
  const std::vector<double> quantiles = {0.01005, 0.05129, 0.28768, 0.69315,
                                         1.38629, 2.99573, 4.60517};
  const std::vector<double> density = RelativeDensity(kScores, quantiles, 20);
  const auto highest = std::max_element(density.begin(), density.end());
  EXPECT_TRUE(std::is_sorted(density.begin(), highest));
  EXPECT_TRUE(
      std::is_sorted(density.rbegin(), std::make_reverse_iterator(highest)));
}

TEST(DensityTest, NoBinIsNegativeBetweenTwoPeaks) {
  const std::vector<double> quantiles = {1, 1.01, 1.02, 5, 9, 9.01, 9.02};
  for (double value : RelativeDensity(kScores, quantiles, 40)) {
    EXPECT_GE(value, 0);
  }
}

TEST(DensityTest, EqualQuantilesInsideAreAllowed) {
  const std::vector<double> quantiles = {1, 1, 1, 1, 2, 2, 3};
  EXPECT_EQ(RelativeDensity(kScores, quantiles, 12).size(), 12u);
}

TEST(DensityTest, AConstantHasNoDensity) {
  EXPECT_TRUE(RelativeDensity(kScores, std::vector<double>(7, 3), 12).empty());
}

}  // namespace
}  // namespace prism::render
