#include "core/step/composition/sharded_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(TakeLatestAfterTest, KeepsTheLaterOfBoth) {
  const auto clock = Rising(0, 1), factor = Rising(1, 0.01),
             seconds = Rising(5, -0.5);
  std::vector<double> latest = Rising(60, 0);
  TakeLatestAfter(clock.data(), factor.data(), seconds.data(), kRow,
                  latest.data());
  for (size_t i = 0; i < kRow; ++i) {
    const double end = clock[i] + factor[i] * seconds[i];
    EXPECT_NEAR(latest[i], std::max(60.0, end), 1e-12) << i;
  }
}

TEST(TakeLatestSumTest, KeepsTheLaterOfBoth) {
  const auto a = Rising(0, 1), b = Rising(1, 0.01), c = Rising(5, -0.5);
  std::vector<double> latest = Rising(60, 0);
  TakeLatestSum(a.data(), b.data(), 0.5, c.data(), kRow, latest.data());
  for (size_t i = 0; i < kRow; ++i) {
    EXPECT_NEAR(latest[i], std::max(60.0, a[i] + b[i] + 0.5 * c[i]), 1e-12)
        << i;
  }
}

// Rows of complex numbers of size 1 for roots.
struct Numbers {
  std::vector<double> re, im;
  ComplexRow row() { return {re.data(), im.data()}; }
};

Numbers Roots() {
  Numbers roots{std::vector<double>(kRow), std::vector<double>(kRow)};
  for (size_t i = 0; i < kRow; ++i) {
    roots.re[i] = std::cos(0.1 * static_cast<double>(i));
    roots.im[i] = std::sin(0.1 * static_cast<double>(i));
  }
  return roots;
}

TEST(ComplexRowsTest, JoiningUndoesSplitting) {
  Numbers a{Rising(1, 2), Rising(-3, 1)}, b{Rising(0, -1), Rising(7, 0.5)};
  const Numbers first = a, second = b;
  Numbers roots = Roots();
  SplitHalves(roots.row(), kRow, a.row(), b.row());
  EXPECT_NEAR(a.im[3], first.im[3] + second.im[3], 1e-12);
  EXPECT_GT(std::abs(b.re[3] - (first.re[3] - second.re[3])), 0.1);
  JoinHalves(roots.row(), kRow, a.row(), b.row());
  for (size_t i = 0; i < kRow; ++i) {
    EXPECT_NEAR(a.re[i], 2 * first.re[i], 1e-9) << i;
    EXPECT_NEAR(a.im[i], 2 * first.im[i], 1e-9) << i;
    EXPECT_NEAR(b.re[i], 2 * second.re[i], 1e-9) << i;
    EXPECT_NEAR(b.im[i], 2 * second.im[i], 1e-9) << i;
  }
}

TEST(ComplexRowsTest, ProductsAddAngles) {
  Numbers roots = Roots(), product = Roots();
  MultiplyRows(roots.row(), kRow, product.row());
  for (size_t i = 0; i < kRow; ++i) {
    EXPECT_NEAR(product.re[i], std::cos(0.2 * static_cast<double>(i)), 1e-12);
    EXPECT_NEAR(product.im[i], std::sin(0.2 * static_cast<double>(i)), 1e-12);
  }
}

TEST(ExpMinusTest, IsTheExponential) {
  std::vector<float> row = Scores(0, 80);
  const std::vector<float> exponent = row;
  ExpMinus(kRow, row.data());
  for (size_t i = 0; i < kRow; ++i) {
    EXPECT_NEAR(row[i] / std::exp(-exponent[i]), 1, 1e-5) << exponent[i];
  }
}

}  // namespace
}  // namespace prism::step
