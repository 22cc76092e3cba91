#include "core/stats/sample_quantiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace prism::stats {
namespace {

TEST(SortedQuantileTest, InterpolatesBetweenOrderStatistics) {
  const std::vector<double> sorted = {1, 2, 4, 8};
  EXPECT_EQ(SortedQuantile(sorted, 0), 1);
  EXPECT_EQ(SortedQuantile(sorted, 1), 8);
  EXPECT_EQ(SortedQuantile(sorted, 0.5), 3);
  EXPECT_NEAR(SortedQuantile(sorted, 0.25), 1.75, 1e-15);
}

TEST(SortedQuantileTest, OneValueIsEveryQuantile) {
  const std::vector<double> one = {7};
  EXPECT_EQ(SortedQuantile(one, 0.01), 7);
  EXPECT_EQ(SortedQuantileError(one, 0.5), 0);
}

TEST(SortedQuantileErrorTest, MatchesTheAsymptoticErrorOfAUniformSample) {
  std::vector<double> grid(10001);
  for (size_t i = 0; i < grid.size(); ++i) grid[i] = i / 10000.0;
  for (double p : {0.05, 0.5, 0.95}) {
    EXPECT_NEAR(SortedQuantileError(grid, p), std::sqrt(p * (1 - p) / 10001),
                1e-6);
  }
}

TEST(SampleMomentsTest, KeepsDigitsOfNearlyEqualValues) {
  const Moments m = SampleMoments(std::vector<double>{1e9, 1e9 + 1, 1e9 + 2});
  EXPECT_EQ(m.mean, 1e9 + 1);
  EXPECT_NEAR(m.standard_deviation, 1, 1e-12);
  EXPECT_EQ(SampleMoments(std::vector<double>{5}).standard_deviation, 0);
}

}  // namespace
}  // namespace prism::stats
