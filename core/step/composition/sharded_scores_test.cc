#include "core/step/composition/sharded_scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/stats/normal.h"

namespace prism::step {
namespace {

constexpr int kSamples = 512;

std::vector<float> Copy(const float* row) { return {row, row + kSamples}; }

double Correlation(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0, a2 = 0, b2 = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<double>(a[i] * b[i]);
    a2 += static_cast<double>(a[i] * a[i]);
    b2 += static_cast<double>(b[i] * b[i]);
  }
  return sum / std::sqrt(a2 * b2);
}

TEST(ScoreSourceTest, ExactRowsHaveOneScoreInEachStratum) {
  ScoreSource source(7, kSamples, 0);
  std::vector<float> row = Copy(source.NextExact());
  EXPECT_FALSE(std::is_sorted(row.begin(), row.end()));
  std::sort(row.begin(), row.end());
  for (int i = 0; i < kSamples; ++i) {
    const double u = stats::NormalCdf(static_cast<double>(row[i]));
    EXPECT_GE(u * kSamples, i - 0.01) << i;
    EXPECT_LE(u * kSamples, i + 1.01) << i;
  }
}

TEST(ScoreSourceTest, FirstRowsAreExact) {
  ScoreSource two(7, kSamples, 2), none(7, kSamples, 0);
  EXPECT_EQ(Copy(two.Next()), Copy(none.NextExact()));
  EXPECT_EQ(Copy(two.Next()), Copy(none.NextExact()));
  EXPECT_EQ(Copy(two.Next()), Copy(none.Next()));
}

// Keys of batches are a fixed distance apart. Correlations of independent rows
// have a deviation of 1 / sqrt(kSamples); 300 pairs stay within five.
TEST(ScoreSourceTest, RowsAreIndependentOfEachOtherAndOfOtherKeys) {
  std::vector<std::vector<float>> rows;
  for (uint64_t batch = 1; batch <= 5; ++batch) {
    ScoreSource source(1 + 0x9E3779B97F4A7C15 * batch, kSamples, 3);
    for (int i = 0; i < 5; ++i) rows.push_back(Copy(source.Next()));
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      EXPECT_LT(std::abs(Correlation(rows[i], rows[j])),
                5 / std::sqrt(kSamples))
          << i << ' ' << j;
    }
  }
}

}  // namespace
}  // namespace prism::step
