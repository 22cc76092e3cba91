#include "core/step/composition/pipeline_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace prism::step {
namespace {

using Row = std::vector<float>;

std::vector<uint32_t> Samples(size_t n, uint32_t first = 0) {
  std::vector<uint32_t> samples(n);
  std::iota(samples.begin(), samples.end(), first);
  return samples;
}

Row Scores(uint64_t key, uint32_t group, uint32_t salt,
           const std::vector<uint32_t>& samples) {
  Row out(2 * kScoreRows * samples.size());
  ScoreRows(key, group, salt, samples.data(), samples.size(), out.data());
  return out;
}

// Rising from -2.5.
Row Ramp(size_t n, float step) {
  Row row(n);
  for (size_t i = 0; i < n; ++i) row[i] = static_cast<float>(i) * step - 2.5f;
  return row;
}

constexpr size_t kSize = 3 * kPipelineRow;
constexpr ScorePolynomial kPolynomial = {0,    0,    0, 0.01f, -0.02f,
                                         0.1f, 0.3f, 2, 0.5f};
constexpr ScorePolynomial kLongPolynomial = {
    1e-4f, 2e-4f, -1e-3f, 0.01f, -0.02f, 0.1f, 0.3f, 2, 0.5f};

float Value(float z, const ScorePolynomial& polynomial = kPolynomial) {
  float sum = 0;
  for (const float c : polynomial) sum = sum * z + c;
  return sum;
}

TEST(ScoreRows, MomentsAreThoseOfANormal) {
  constexpr size_t kSamples = 1 << 16;
  const auto samples = Samples(kSamples);
  double sums[9] = {};
  double n = 0;
  for (uint32_t group = 0; group < 4; ++group) {
    for (const float z : Scores(1, group, 0, samples)) {
      double power = 1;
      for (double& sum : sums) {
        sum += power;
        power *= z;
      }
    }
  }
  n = sums[0] / 2;  // independent ones
  // Exact moments 1, 3, 15 and 105; variances of even powers of a normal are
  // E z^4k - (E z^2k)^2. Five standard deviations and what the discrete score
  // is off by.
  const struct {
    int power;
    double moment, variance;
  } kMoments[] = {{2, 1, 2}, {4, 3, 96}, {6, 15, 10170}, {8, 105, 2016000}};
  for (const auto& [power, moment, variance] : kMoments) {
    EXPECT_NEAR(sums[power] / sums[0], moment,
                5 * std::sqrt(variance / n) + 1e-3 * moment)
        << power;
  }
}

TEST(ScoreRows, SecondHalvesMirrorFirstHalves) {
  constexpr size_t kSamples = 32;
  const Row scores = Scores(1, 2, 3, Samples(kSamples));
  for (size_t row = 0; row < kScoreRows; ++row) {
    const float* first = &scores[row * 2 * kSamples];
    for (size_t i = 0; i < kSamples; ++i) {
      EXPECT_EQ(first[i], -first[kSamples + i]);
    }
  }
}

TEST(ScoreRows, DrawsDependOnTheSampleNotOnItsPlace) {
  const Row all = Scores(1, 2, 3, Samples(32));
  const Row some = Scores(1, 2, 3, Samples(16, 16));
  for (size_t row = 0; row < kScoreRows; ++row) {
    for (size_t i = 0; i < 16; ++i) {
      EXPECT_EQ(some[row * 32 + i], all[row * 64 + 16 + i]);
    }
  }
}

TEST(ScoreRows, EveryKeyPartGivesOtherDraws) {
  const auto samples = Samples(16);
  const Row scores = Scores(1, 2, 3, samples);
  EXPECT_EQ(scores, Scores(1, 2, 3, samples));
  EXPECT_NE(scores, Scores(2, 2, 3, samples));
  EXPECT_NE(scores, Scores(1ull << 32 | 1, 2, 3, samples));
  EXPECT_NE(scores, Scores(1, 3, 3, samples));
  EXPECT_NE(scores, Scores(1, 2, 4, samples));
}

// Of 65,536 independent pairs, a correlation has standard deviation 1/256.
TEST(ScoreRows, RowsAndGroupsAreUncorrelated) {
  constexpr size_t kSamples = 1 << 16;
  const auto samples = Samples(kSamples);
  const Row a = Scores(1, 0, 0, samples);
  const Row b = Scores(1, 1, 0, samples);
  const auto correlation = [&](const float* x, const float* y) {
    return std::inner_product(x, x + kSamples, y, 0.0) / kSamples;
  };
  EXPECT_NEAR(correlation(&a[0], &a[2 * kSamples]), 0, 5.0 / 256);
  EXPECT_NEAR(correlation(&a[0], &b[0]), 0, 5.0 / 256);
  EXPECT_NEAR(correlation(&a[0], &a[1]), 0, 5.0 / 256);
}

TEST(PolynomialRow, EvaluatesHighestPowerFirst) {
  const Row score = Ramp(kSize, 0.1f);
  Row out(kSize);
  PolynomialRow(score.data(), kSize, kPolynomial, out.data());
  for (size_t i = 0; i < kSize; ++i) {
    EXPECT_NEAR(out[i], Value(score[i]), 2e-6) << i;
  }
  PolynomialRow(score.data(), kSize, kLongPolynomial, out.data());
  for (size_t i = 0; i < kSize; ++i) {
    EXPECT_NEAR(out[i], Value(score[i], kLongPolynomial), 5e-6) << i;
  }
}

TEST(TableRow, InterpolatesAndClamps) {
  Row table(kTableNodes + 1);
  for (int i = 0; i <= kTableNodes; ++i) {
    table[i] = 2 * kTableEnd * static_cast<float>(i) / kTableNodes - kTableEnd;
  }
  const Row score = Ramp(kSize, 0.4f);  // up to 16.3
  Row out(kSize);
  TableRow(score.data(), kSize, table.data(), out.data());
  for (size_t i = 0; i < kSize; ++i) {
    EXPECT_NEAR(out[i], std::min(score[i], kTableEnd), 2e-5) << i;
  }
}

class RowTest : public testing::Test {
 protected:
  const Row a_ = Ramp(kSize, 0.1f);
  const Row b_ = Ramp(kSize, 0.07f);
  const Row c_ = Ramp(kSize, 0.13f);
};

TEST_F(RowTest, AddAndSum) {
  Row added = b_, sum(kSize);
  AddRow(a_.data(), kSize, added.data());
  Row scaled = b_;
  AddScaledRow(a_.data(), 0.3f, kSize, scaled.data());
  SumRow(a_.data(), b_.data(), kSize, sum.data());
  Row drawn(kSize);
  SumPolynomial(a_.data(), b_.data(), kPolynomial, kSize, drawn.data());
  for (size_t i = 0; i < kSize; ++i) {
    EXPECT_EQ(added[i], a_[i] + b_[i]);
    EXPECT_EQ(sum[i], a_[i] + b_[i]);
    EXPECT_NEAR(scaled[i], b_[i] + 0.3f * a_[i], 1e-6);
    EXPECT_NEAR(drawn[i], a_[i] + Value(b_[i]), 1e-5);
  }
}

TEST_F(RowTest, ScaleStretchesThenShifts) {
  Row deviation = c_;
  ScaleRow(a_.data(), b_.data(), kSize, deviation.data());
  for (size_t i = 0; i < kSize; ++i) {
    EXPECT_NEAR(deviation[i], a_[i] + c_[i] * b_[i], 1e-5);
  }
}

// A mean of 3 that is shifted by a takes load times 3 + a; a quarter of the
// variance is the network's and does not follow.
TEST_F(RowTest, LoadsMultiplyTheComputePart) {
  Row deviation = Ramp(kSize, 0.07f);
  const Row before = deviation;
  ScaleLoadedRow(c_.data(), 3, 0.25f, a_.data(), b_.data(), kSize,
                 deviation.data());
  for (size_t i = 0; i < kSize; ++i) {
    const float spread = c_[i] * (b_[i] - 0.25f) + 0.25f;
    EXPECT_NEAR(deviation[i], c_[i] * (3 + a_[i]) - 3 + before[i] * spread,
                1e-5);
  }
}

TEST_F(RowTest, FactorsAreNotBelowNothing) {
  Row factor = a_;
  FactorRow(kSize, factor.data());
  for (size_t i = 0; i < kSize; ++i) {
    EXPECT_EQ(factor[i], std::max(0.0f, 1 + a_[i]));
  }
}

TEST(AddTermPowers, SumsProductsByPosition) {
  const Row x = Ramp(4 * kPowerLanes, 0.03f);
  const Row term = Ramp(4 * kPowerLanes, -0.02f);
  std::vector<double> sums(kPowers * kPowerLanes, 1.0);
  AddTermPowers(x.data(), term.data(), x.size(), 0.5f, 2, sums.data());
  for (size_t p = 0; p < kPowers; ++p) {
    for (size_t lane = 0; lane < kPowerLanes; ++lane) {
      double expected = 1, size = 1;
      for (size_t i = lane; i < x.size(); i += kPowerLanes) {
        const double product =
            double(term[i]) * std::pow(2.0 * (double(x[i]) - 0.5), p + 1.0);
        expected += product;
        size += std::abs(product);
      }
      EXPECT_NEAR(sums[p * kPowerLanes + lane], expected, 1e-5 * size)
          << p << " " << lane;
    }
  }
}

TEST(AddPowers, SumsByPosition) {
  const Row x = Ramp(4 * kPowerLanes, 0.03f);
  std::vector<double> sums(kPowers * kPowerLanes, 1.0);
  AddPowers(x.data(), x.size(), 0.5f, 2, sums.data());
  for (size_t p = 0; p < kPowers; ++p) {
    for (size_t lane = 0; lane < kPowerLanes; ++lane) {
      double expected = 1;
      for (size_t i = lane; i < x.size(); i += kPowerLanes) {
        expected += std::pow(2.0 * (double(x[i]) - 0.5), p + 1.0);
      }
      EXPECT_NEAR(sums[p * kPowerLanes + lane], expected,
                  1e-5 * std::abs(expected) + 1e-4)
          << p << " " << lane;
    }
  }
}

TEST_F(RowTest, AdvanceStartsAtTheLaterOfClockAndArrival) {
  Row clock = a_, drawn = a_;
  AdvanceAfter(b_.data(), -0.5f, -0.1f, c_.data(), kSize, clock.data());
  AdvancePolynomialAfter(b_.data(), -0.5f, -0.1f, c_.data(), kPolynomial, kSize,
                         drawn.data());
  for (size_t i = 0; i < kSize; ++i) {
    const float start = std::max(a_[i] - 0.5f, b_[i] - 0.1f);
    EXPECT_NEAR(clock[i], start + c_[i], 1e-6);
    EXPECT_NEAR(drawn[i], start + Value(c_[i]), 1e-5);
  }
}

TEST_F(RowTest, AdvanceWithoutArrivalAddsTheDraw) {
  Row clock = a_;
  AdvancePolynomial(c_.data(), kPolynomial, kSize, clock.data());
  for (size_t i = 0; i < kSize; ++i) {
    EXPECT_NEAR(clock[i], a_[i] + Value(c_[i]), 1e-5);
  }
}

}  // namespace
}  // namespace prism::step
