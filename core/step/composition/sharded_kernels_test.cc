#include "core/step/composition/sharded_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace prism::step {
namespace {

constexpr size_t kRow = 128;  // a multiple of every vector's length

std::vector<float> Scores(float from, float to) {
  std::vector<float> scores(kRow);
  for (size_t i = 0; i < kRow; ++i) {
    scores[i] = from + (to - from) * static_cast<float>(i) / (kRow - 1);
  }
  return scores;
}

std::vector<double> Rising(double from, double step) {
  std::vector<double> row(kRow);
  for (size_t i = 0; i < kRow; ++i) row[i] = from + step * i;
  return row;
}

TEST(MixScoresTest, IsTheWeightedSumOfFourRows) {
  const auto a = Scores(-1, 1), b = Scores(2, 3), c = Scores(0, -4),
             d = Scores(1, 1);
  std::vector<float> out(kRow);
  MixScores({a.data(), b.data(), c.data(), d.data()}, {0.5f, -1, 0.25f, 2},
            kRow, out.data());
  for (size_t i = 0; i < kRow; ++i) {
    EXPECT_NEAR(out[i], 0.5f * a[i] - b[i] + 0.25f * c[i] + 2 * d[i], 1e-5f);
  }
}

TEST(AddPolynomialTest, AddsFactorTimesMeanAndDeviation) {
  const auto score = Scores(-3, 3);
  const auto factor = Rising(1, 0.01);
  std::vector<double> clock = Rising(7, 1);
  const CurvePolynomial polynomial = {0.001f, -0.002f, 0.01f, 0.1f, 1, -0.1f};
  AddPolynomial(score.data(), factor.data(), 20, polynomial, kRow,
                clock.data());
  for (size_t i = 0; i < kRow; ++i) {
    double deviation = 0;
    for (float c : polynomial) {
      deviation =
          deviation * static_cast<double>(score[i]) + static_cast<double>(c);
    }
    EXPECT_NEAR(clock[i], 7.0 + i + factor[i] * (20 + deviation), 1e-5);
  }
}

// The table of the identity gives the score back, and its ends beyond them.
TEST(AddTableTest, IsLinearBetweenNodesAndHoldsItsEnds) {
  std::vector<float> table(kCurveCells + 1);
  for (int i = 0; i <= kCurveCells; ++i) {
    table[i] = 2 * kCurveEnd * static_cast<float>(i) / kCurveCells - kCurveEnd;
  }
  const auto score = Scores(-8, 8);
  const auto factor = Rising(1, 0);
  std::vector<double> clock = Rising(0, 0);
  AddTable(score.data(), factor.data(), 3, table.data(), kRow, clock.data());
  for (size_t i = 0; i < kRow; ++i) {
    const float inside = std::fmin(std::fmax(score[i], -kCurveEnd), kCurveEnd);
    // The last cell ends a thousandth early.
    EXPECT_NEAR(clock[i], 3 + static_cast<double>(inside), 1e-4) << score[i];
  }
}

// Deviations are single, clocks double precision: a clock of hours keeps
// nanoseconds.
TEST(AddTableTest, ClocksKeepDoublePrecision) {
  const std::vector<float> table(kCurveCells + 1, 0.0f);
  const auto score = Scores(-2, 2);
  const auto factor = Rising(1, 0);
  std::vector<double> clock = Rising(1e4, 0);
  AddTable(score.data(), factor.data(), 1e-9, table.data(), kRow, clock.data());
  for (double seconds : clock) EXPECT_NEAR(seconds - 1e4, 1e-9, 4e-12);
}

TEST(AddScaledConstantTest, AddsTheConstantTimesTheFactor) {
  const auto factor = Rising(0.5, 0.25);
  std::vector<double> clock = Rising(2, 0);
  AddScaledConstant(factor.data(), 4, kRow, clock.data());
  for (size_t i = 0; i < kRow; ++i) {
    EXPECT_DOUBLE_EQ(clock[i], 2 + 4 * factor[i]);
  }
}

TEST(TakeLatestTest, KeepsTheLarger) {
  const auto clock = Rising(0, 1);
  std::vector<double> latest = Rising(64, 0);
  TakeLatest(clock.data(), kRow, latest.data());
  for (size_t i = 0; i < kRow; ++i) {
    EXPECT_EQ(latest[i], std::max<double>(64, static_cast<double>(i)));
  }
}

}  // namespace
}  // namespace prism::step
