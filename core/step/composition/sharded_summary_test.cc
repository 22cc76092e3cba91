#include "core/step/composition/sharded_summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "core/stats/normal.h"

namespace prism::step {
namespace {

constexpr int kBatches = 8, kSamples = 512;
constexpr size_t kMedian = 3;

// Batches of normals, plain draws or one in each of as many strata.
std::vector<std::vector<double>> Batches(uint64_t seed, bool stratified) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<std::vector<double>> batches(kBatches);
  for (auto& batch : batches) {
    for (int i = 0; i < kSamples; ++i) {
      const double u = uniform(generator);
      batch.push_back(
          stats::NormalQuantile(stratified ? (i + u) / kSamples : u));
    }
    std::sort(batch.begin(), batch.end());
  }
  return batches;
}

TEST(SummariseBatchesTest, QuantilesAreThoseOfAllSamples) {
  const StepTime time = SummariseBatches({{1, 3, 5}, {2, 4}});
  EXPECT_EQ(time.samples, 5);
  EXPECT_DOUBLE_EQ(time.mean_seconds, 3);
  EXPECT_DOUBLE_EQ(time.standard_deviation_seconds, std::sqrt(2.5));
  EXPECT_DOUBLE_EQ(time.quantile_seconds[kMedian], 3);
  EXPECT_DOUBLE_EQ(time.quantile_seconds[4], 4);
}

// The deviation of the median of n normals is sqrt(pi / 2 n). Eight batches
// and seven levels tell it to a third or so; twenty seeds to a tenth.
TEST(SummariseBatchesTest, PlainDrawsHaveThePlainError) {
  constexpr int kSeeds = 20;
  double square = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const double error =
        SummariseBatches(Batches(seed, false)).standard_error_seconds[kMedian];
    square += error * error / kSeeds;
  }
  const double exact = std::sqrt(std::acos(-1.0) / 2 / (kBatches * kSamples));
  EXPECT_NEAR(std::sqrt(square) / exact, 1, 0.25);
}

TEST(SummariseBatchesTest, StrataLowerTheError) {
  EXPECT_LT(
      SummariseBatches(Batches(1, true)).standard_error_seconds[kMedian],
      0.3 *
          SummariseBatches(Batches(1, false)).standard_error_seconds[kMedian]);
}

TEST(SummariseBatchesTest, OneBatchIsAPlainSample) {
  const auto batch = Batches(2, true)[0];
  const double error =
      SummariseBatches({batch}).standard_error_seconds[kMedian];
  EXPECT_NEAR(error, std::sqrt(std::acos(-1.0) / 2 / kSamples), 0.01);
}

TEST(SummariseBatchesTest, ConstantStepsHaveNoError) {
  const StepTime time = SummariseBatches({{2, 2, 2}, {2, 2}});
  for (double error : time.standard_error_seconds) EXPECT_EQ(error, 0);
}

TEST(RootMeanDifferenceTest, IsNothingWithoutOthers) {
  for (double d : RootMeanDifference(Batches(1, true), {})) EXPECT_EQ(d, 0);
}

TEST(RootMeanDifferenceTest, ShiftsOfAllQuantilesAreFound) {
  const auto batches = Batches(1, true);
  std::vector<std::vector<double>> others(batches.begin(), batches.begin() + 2);
  for (auto& other : others) {
    for (double& step : other) step += 0.25;
  }
  for (double d : RootMeanDifference(batches, others)) {
    EXPECT_NEAR(d, 0.25, 1e-12);
  }
}

}  // namespace
}  // namespace prism::step
