#include "core/step/composition/score_shape.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/stats/normal.h"

namespace prism::step {
namespace {

struct Shape {
  double skew;
  double kurtosis;
};

// From what shapes are fitted to: sums and maxima of many draws.
constexpr Shape kShapes[] = {{0, 0},     {0.3, 0.2},  {0.8, 1.2},
                             {1.5, 4.5}, {-0.3, 0.1}, {-0.8, 1.1},
                             {0, 1},     {0, -0.2},   {0.5, 0.8}};

struct Moments {
  double mean = 0, variance = 0, skew = 0;
};

Moments MomentsOf(const ScoreShape& shape) {
  double sums[4] = {};
  for (double z = -8; z <= 8; z += 1.0 / 64) {
    double power = stats::NormalDensity(z) / 64;
    for (double& sum : sums) {
      sum += power;
      power *= shape.At(z);
    }
  }
  const double mean = sums[1];
  const double variance = sums[2] - mean * mean;
  return {mean, variance,
          (sums[3] - 3 * mean * sums[2] + 2 * mean * mean * mean) /
              std::pow(variance, 1.5)};
}

TEST(ScoreShape, DefaultIsTheNormal) {
  const ScoreShape shape;
  for (double z = -6; z <= 6; z += 0.5) EXPECT_EQ(shape.At(z), z);
}

TEST(ScoreShape, HasTheMomentsAskedFor) {
  for (const auto& [skew, kurtosis] : kShapes) {
    const Moments moments = MomentsOf(ScoreShape(skew, kurtosis));
    EXPECT_NEAR(moments.mean, 0, 1e-6) << skew << " " << kurtosis;
    // The cubic term adds a little to the variance.
    EXPECT_NEAR(moments.variance, 1, 0.03) << skew << " " << kurtosis;
    EXPECT_NEAR(moments.skew, skew, 0.02 + 0.1 * std::abs(skew))
        << skew << " " << kurtosis;
  }
}

TEST(ScoreShape, RisesWithTheScore) {
  for (const auto& [skew, kurtosis] : kShapes) {
    const ScoreShape shape(skew, kurtosis);
    for (double z = -5; z < 5; z += 0.05) {
      EXPECT_LT(shape.At(z), shape.At(z + 0.05))
          << skew << " " << kurtosis << " at " << z;
    }
  }
}

TEST(ScoreShape, InverseFindsTheScore) {
  for (const auto& [skew, kurtosis] : kShapes) {
    const ScoreShape shape(skew, kurtosis);
    for (double z = -4; z <= 5; z += 0.25) {
      EXPECT_NEAR(shape.Inverse(shape.At(z)), z, 1e-6)
          << skew << " " << kurtosis;
    }
  }
}

TEST(ScoreShape, NegativeSkewnessIsTheMirrorImage) {
  const ScoreShape right(0.7, 1), left(-0.7, 1);
  for (double z = -4; z <= 4; z += 0.5) {
    EXPECT_NEAR(left.At(z), -right.At(-z), 1e-12);
  }
}

}  // namespace
}  // namespace prism::step
