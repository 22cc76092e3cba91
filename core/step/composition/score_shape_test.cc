#include "core/step/composition/score_shape.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/stats/normal.h"

namespace prism::step {
namespace {

struct Shape {
  double skew;
  double kurtosis;
};

// From what shapes are fitted to: sums and maxima of many draws.
constexpr Shape kShapes[] = {
    {0, 0}, {0.3, 0.2}, {0.8, 1.2}, {1.5, 4.5}, {-0.3, 0.1}, {-0.8, 1.1},
    {0, 1}, {0, -0.2},  {0.5, 0.8}, {0.5, 1.5}, {0.4, 0.05}, {-0.4, 0.05}};

struct Moments {
  double mean = 0, variance = 0, skew = 0, kurtosis = 0;
};

Moments MomentsOf(const ScoreShape& shape) {
  double sums[5] = {};
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
              std::pow(variance, 1.5),
          sums[4] / (variance * variance) - 3};
}

TEST(ScoreShape, DefaultIsTheNormal) {
  const ScoreShape shape;
  for (double z = -6; z <= 6; z += 0.5) EXPECT_EQ(shape.At(z), z);
}

TEST(ScoreShape, HasTheMomentsAskedFor) {
  for (const auto& [skew, kurtosis] : kShapes) {
    const Moments moments = MomentsOf(ScoreShape(skew, kurtosis));
    // What lies between the nodes of the table is off by their distance, 1/16,
    // squared, times curvature over 8.
    EXPECT_NEAR(moments.mean, 0, 1e-3) << skew << " " << kurtosis;
    EXPECT_NEAR(moments.variance, 1, 2e-3) << skew << " " << kurtosis;
    EXPECT_NEAR(moments.skew, skew, 0.01 + 0.01 * std::abs(skew))
        << skew << " " << kurtosis;
    EXPECT_NEAR(moments.kurtosis, kurtosis, 0.02 + 0.03 * kurtosis)
        << skew << " " << kurtosis;
  }
}

TEST(ScoreShape, RisesWithTheScore) {
  for (const auto& [skew, kurtosis] : kShapes) {
    const ScoreShape shape(skew, kurtosis);
    for (double z = -8; z < 8; z += 0.05) {
      EXPECT_LE(shape.At(z), shape.At(z + 0.05))
          << skew << " " << kurtosis << " at " << z;
    }
  }
}

TEST(ScoreShape, InverseFindsTheScore) {
  for (const auto& [skew, kurtosis] : kShapes) {
    const ScoreShape shape(skew, kurtosis);
    for (double z = -4; z <= 5; z += 0.25) {
      // Not where it stays what it is.
      if (shape.At(z + 0.1) - shape.At(z - 0.1) < 0.05) continue;
      EXPECT_NEAR(shape.Inverse(shape.At(z)), z, 1e-6)
          << skew << " " << kurtosis;
    }
  }
}

// A lognormal's lower tail is steep; less kurtosis than it has turns the sum
// back there.
TEST(ScoreShape, DoesNotTurnBackInTheTail) {
  for (double skew = 0; skew <= 1.5; skew += 0.1) {
    const double own = ScoreShape::LognormalKurtosis(skew);
    for (double rest = -1; rest <= 3; rest += 0.25) {
      const ScoreShape shape(skew, own + rest);
      for (double z = -8; z < 8; z += 1.0 / 32) {
        ASSERT_LE(shape.At(z), shape.At(z + 1.0 / 32)) << skew << " " << rest;
      }
    }
  }
}

TEST(ScoreShape, MovesAndStaysRising) {
  std::vector<double> offset(ScoreShape::kNodes, 0.25);
  offset[ScoreShape::kNodes / 2 + 16] = -5;  // at score 1
  const ScoreShape moved = ScoreShape().MovedBy(offset);
  EXPECT_EQ(moved.At(0.5), 0.75);
  EXPECT_EQ(moved.At(1), 1.1875);
  EXPECT_EQ(moved.At(2), 2.25);
}

TEST(ScoreShape, NegativeSkewnessIsTheMirrorImage) {
  const ScoreShape right(0.7, 1), left(-0.7, 1);
  for (double z = -4; z <= 4; z += 0.5) {
    EXPECT_NEAR(left.At(z), -right.At(-z), 1e-12);
  }
}

}  // namespace
}  // namespace prism::step
