#include "core/stats/draw_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/stats/normal.h"

namespace prism::stats {
namespace {

struct Rows {
  std::vector<uint64_t> replica, sample;
  std::vector<double> first, second;

  explicit Rows(size_t n)
      : replica(RowSize(n)),
        sample(RowSize(n)),
        first(RowSize(n)),
        second(RowSize(n)) {}

  void Fill(uint64_t key, uint32_t slot, uint32_t operation) {
    UniformRows({key, slot, operation, replica.data(), sample.data()},
                first.size(), first.data(), second.data());
  }
};

double UnitFromWords(uint32_t high, uint32_t low) {
  const uint64_t word = uint64_t{high} << 32 | low;
  return static_cast<double>(word >> 12) * 0x1p-52 + 0x1p-53;
}

// Known-answer vectors of the Philox4x32-10 reference implementation.
TEST(UniformRowsTest, MatchesPublishedVectorOfZeroCounter) {
  Rows rows(1);
  rows.Fill(0, 0, 0);
  EXPECT_EQ(rows.first[0], UnitFromWords(0x6627e8d5, 0xe169c58d));
  EXPECT_EQ(rows.second[0], UnitFromWords(0xbc57ac4c, 0x9b00dbd8));
}

TEST(UniformRowsTest, MatchesPublishedVectorOfPiCounter) {
  Rows rows(1);
  rows.replica[0] = 0x13198a2e;
  rows.sample[0] = 0x03707344;
  rows.Fill(0x299f31d0a4093822, 0x243f6a88, 0x85a308d3);
  EXPECT_EQ(rows.first[0], UnitFromWords(0xd16cfe09, 0x94fdcceb));
  EXPECT_EQ(rows.second[0], UnitFromWords(0x5001e420, 0x24126ea1));
}

TEST(UniformRowsTest, ElementDoesNotDependOnItsPlaceInTheRow) {
  Rows rows(64);
  for (size_t i = 0; i < 64; ++i) rows.replica[i] = i % 7, rows.sample[i] = 3;
  rows.Fill(1, 2, 3);
  for (size_t i = 7; i < 64; ++i) {
    EXPECT_EQ(rows.first[i], rows.first[i % 7]);
    EXPECT_EQ(rows.second[i], rows.second[i % 7]);
  }
}

TEST(UniformRowsTest, EveryCoordinateMatters) {
  Rows rows(1);
  rows.Fill(1, 2, 3);
  const double base = rows.first[0];
  rows.Fill(1ull << 40, 2, 3);
  EXPECT_NE(rows.first[0], base);
  rows.Fill(1, 3, 3);
  EXPECT_NE(rows.first[0], base);
  rows.Fill(1, 2, 4);
  EXPECT_NE(rows.first[0], base);
  rows.replica[0] = 1;
  rows.Fill(1, 2, 3);
  EXPECT_NE(rows.first[0], base);
  rows.replica[0] = 0;
  rows.sample[0] = 1;
  rows.Fill(1, 2, 3);
  EXPECT_NE(rows.first[0], base);
}

TEST(UniformRowsTest, IsUniform) {
  const size_t n = 1 << 16;
  Rows rows(n);
  for (size_t i = 0; i < n; ++i) rows.sample[i] = i;
  rows.Fill(42, 0, 0);
  std::vector<int> bins(64);
  for (double u : rows.first) ++bins[static_cast<size_t>(u * 64)];
  double chi_square = 0;
  for (int count : bins) {
    chi_square += std::pow(count - n / 64.0, 2) / (n / 64.0);
  }
  // 63 degrees of freedom: mean 63, sd sqrt(126) = 11.2; five sd.
  EXPECT_LT(chi_square, 63 + 5 * 11.2);
  EXPECT_GT(chi_square, 63 - 5 * 11.2);
}

TEST(NormalScoresTest, InvertsTheNormalCdf) {
  std::vector<double> u, expected;
  for (double p = 1e-15; p < 0.5; p *= 1.3) {
    for (double q : {p, 1 - p}) {
      u.push_back(q);
      expected.push_back(NormalQuantile(q));
    }
  }
  for (double p = 0.01; p < 1; p += 0.01) {
    u.push_back(p);
    expected.push_back(NormalQuantile(p));
  }
  const size_t n = u.size();
  u.resize(RowSize(n), 0.5);
  std::vector<double> z(RowSize(n));
  NormalScores(u.data(), n, z.data());
  for (size_t i = 0; i < n; ++i) {
    EXPECT_NEAR(z[i], expected[i], 2e-8) << "u = " << u[i];
  }
}

TEST(NormalScoresTest, IsFiniteAtTheEnds) {
  std::vector<double> u = {0x1p-53, 1 - 0x1p-53, 0.5, 0.5 + 0x1p-53,
                           0.5,     0.5,         0.5, 0.5};
  NormalScores(u.data(), u.size(), u.data());
  EXPECT_NEAR(u[0], -8.2095, 1e-3);
  EXPECT_NEAR(u[1], 8.2095, 1e-3);
  EXPECT_NEAR(u[2], 0, 1e-15);
}

TEST(RowKernelsTest, ComputeTheirFormulas) {
  std::vector<double> z = {-3, -1, -0.5, 0, 0.5, 1, 2, 3};
  std::vector<double> out(8);
  NormalRow(z.data(), 8, 2, 1, out.data());
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out[i], std::max(0.0, 2 + z[i]));
  LognormalRow(z.data(), 8, 0.3, 0.7, out.data());
  for (int i = 0; i < 8; ++i) {
    EXPECT_NEAR(out[i], std::exp(0.3 + 0.7 * z[i]), 1e-14 * out[i]);
  }
  std::vector<double> u = {1e-12, 0.1, 0.2, 0.5, 0.6, 0.9, 0.99, 0.999999};
  ShiftedExponentialRow(u.data(), 8, 1.5, 2, out.data());
  for (int i = 0; i < 8; ++i) {
    EXPECT_NEAR(out[i], 1.5 - 2 * std::log1p(-u[i]), 1e-14);
  }
  std::vector<double> clock(8, 1);
  AddScaled(u.data(), z.data(), 8, clock.data());
  for (int i = 0; i < 8; ++i) EXPECT_NEAR(clock[i], 1 + u[i] * z[i], 1e-15);
  MaxRows(z.data(), u.data(), 8, out.data());
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out[i], std::max(z[i], u[i]));
}

}  // namespace
}  // namespace prism::stats
