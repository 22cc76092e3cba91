#include "core/placement/normal_maximum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace prism::placement {
namespace {

// Means and variances of the largest of n standard normals (tables of order
// statistics; two and three in closed form).
TEST(NormalMaximumTest, EqualNormalsFollowOrderStatistics) {
  const double pi = std::acos(-1.0);
  struct {
    double count, mean, variance;
  } const cases[] = {{1, 0, 1},
                     {2, 1 / std::sqrt(pi), 1 - 1 / pi},
                     {3, 1.5 / std::sqrt(pi), 0.559467},
                     {10, 1.538753, 0.343644},
                     {100, 2.507594, 0.184215}};
  for (const auto& c : cases) {
    const EqualNormals equal = {.mean = 0, .count = c.count};
    const MaximumMoments found = MaximumOfNormals({&equal, 1}, 1);
    EXPECT_NEAR(found.mean, c.mean, 2e-4) << c.count;
    EXPECT_NEAR(found.variance, c.variance, 1e-3) << c.count;
  }
}

TEST(NormalMaximumTest, ScalesAndMoves) {
  const EqualNormals pair = {.mean = 5, .count = 2};
  const MaximumMoments found = MaximumOfNormals({&pair, 1}, 0.1);
  EXPECT_NEAR(found.mean, 5 + 0.1 / std::sqrt(std::acos(-1.0)), 2e-5);
}

// Clark, "The greatest of a finite set of random variables", 1961.
TEST(NormalMaximumTest, UnequalPairFollowsClark) {
  for (const double apart : {0.1, 0.7, 2.0, 5.0}) {
    const std::vector<EqualNormals> pair = {{.mean = 0}, {.mean = apart}};
    const double a = std::sqrt(2.0);
    const double cdf = 0.5 * std::erfc(-apart / a / a);
    const double density =
        std::exp(-apart * apart / 4) / std::sqrt(2 * std::acos(-1.0));
    EXPECT_NEAR(MaximumOfNormals(pair, 1).mean, apart * cdf + a * density, 2e-4)
        << apart;
  }
}

TEST(NormalMaximumTest, WithoutDeviationTheLargestMeanCounts) {
  const std::vector<EqualNormals> normals = {{.mean = 3}, {.mean = 4}};
  EXPECT_EQ(MaximumOfNormals(normals, 0).mean, 4);
  EXPECT_EQ(MaximumOfNormals(normals, 0).variance, 0);
}

}  // namespace
}  // namespace prism::placement
