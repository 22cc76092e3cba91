#include "core/estimate/variation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/hardware/link_spread.h"

namespace prism::estimate {
namespace {

double CvOf(const stats::Distribution& d) {
  return std::sqrt(d.Variance()) / d.Mean();
}

TEST(ComputeTimeTest, KeepsTheMean) {
  EXPECT_EQ(ComputeTime(0.25, 0.01).StatedMean(), 0.25);
  EXPECT_NEAR(CvOf(ComputeTime(0.25, 0.01)), 0.01, 1e-9);
}

TEST(ComputeTimeTest, NoTimeDoesNotVary) {
  EXPECT_TRUE(ComputeTime(0, 0.01).IsConstant());
}

TEST(NetworkTimeTest, KeepsTheMean) {
  EXPECT_EQ(NetworkTime({0.5, 0.1}, {}).StatedMean(), 0.5);
  EXPECT_NEAR(NetworkTime({1e-4, 1e-5, 0.02}, {}).StatedMean(), 1e-4, 1e-12);
}

TEST(NetworkTimeTest, KeepsTheMeanWhereNodesHoldUpAlways) {
  const stats::Distribution time = NetworkTime({1e-5, 1e-5, 3}, {});
  EXPECT_NEAR(time.StatedMean(), 1e-5, 1e-13);
  EXPECT_GT(time.Quantile(0.01), 0);
}

TEST(NetworkTimeTest, LongCollectivesAreAsWideWithoutATail) {
  const double stalls = hardware::StallsOf(4);
  const hardware::LinkTime time = {5e-3, 1e-4, stalls};
  const hardware::LinkSpread spread = hardware::SpreadOf(time);
  const stats::Distribution law = NetworkTime(time, {});
  EXPECT_EQ(law.StatedMean(), 5e-3);
  EXPECT_NEAR(law.Variance(),
              std::pow(5e-3 * spread.core_cv, 2) +
                  2 * stalls * std::pow(spread.stall_seconds, 2),
              1e-15);
}

TEST(NetworkTimeTest, WithoutStallsVariesAsItsCore) {
  for (const hardware::LinkTime& time :
       {hardware::LinkTime{1e-5, 1e-5}, hardware::LinkTime{1, 0}}) {
    EXPECT_NEAR(CvOf(NetworkTime(time, {})), hardware::SpreadOf(time).core_cv,
                1e-9);
  }
}

// Of single all-reduces of 256 bytes on 16 nodes, 44 us each, 1.4% took longer
// than 1.5 medians (docs/model/hardware.md); within the factor of two to which
// stalls are known (link_spread_test.cc).
TEST(NetworkTimeTest, SmallCollectivesHaveTheMeasuredTail) {
  const auto beyond = [](double stalls) {
    const stats::Distribution time = NetworkTime({46e-6, 46e-6, stalls}, {});
    return 1 - time.Cdf(1.5 * time.Quantile(0.5));
  };
  EXPECT_NEAR(std::log(beyond(hardware::StallsOf(16)) / 0.014), 0,
              std::log(2.0));
  EXPECT_LT(beyond(0), 1e-6);
}

TEST(NetworkTimeTest, NoTimeDoesNotVary) {
  EXPECT_TRUE(NetworkTime({0, 0}, {}).IsConstant());
}

TEST(SlowestFactorTest, OneGpuIsTheAverageOne) {
  EXPECT_NEAR(SlowestFactor(1, {}), 1, 1e-12);
}

// Means of the maximum of n standard normals (H. L. Harter, 1961).
TEST(SlowestFactorTest, FollowsOrderStatistics) {
  Variation unit;
  unit.gpu_sd = 1;
  EXPECT_NEAR(SlowestFactor(8, unit) - 1, 1.42360, 0.02);
  EXPECT_NEAR(SlowestFactor(100, unit) - 1, 2.50759, 0.02);
  EXPECT_NEAR(SlowestFactor(1000, unit) - 1, 3.24144, 0.02);
}

TEST(StepFactorTest, AbsoluteJitterIsThatMeasured) {
  // Step, and deviation of its core, of 512, 2048 and 8192 GPUs.
  EXPECT_NEAR(55 * StepCv(55, {}), 0.13, 0.01);
  EXPECT_NEAR(14 * StepCv(14, {}), 0.06, 0.01);
  EXPECT_NEAR(5 * StepCv(5, {}), 0.056, 0.003);
}

TEST(StepFactorTest, ShortStepsVaryAsTheWidestPublished) {
  EXPECT_EQ(StepCv(0.1, {}), Variation().most_step_cv);
}

TEST(StepFactorTest, KeepsTheMean) {
  EXPECT_EQ(StepFactor(10, {}).StatedMean(), 1);
  EXPECT_NEAR(CvOf(StepFactor(10, {})), StepCv(10, {}), 1e-9);
}

TEST(RareFactorTest, KeepsTheMean) {
  EXPECT_NEAR(RareFactor({}).StatedMean(), 1, 1e-12);
}

// Shares of the 10,278 steps that were longer than the median by more than so
// much (48, 21 and 9 of them with 5%, 10% and 20%, 4 with 50%, 2 with 100%),
// within two standard errors of a count.
TEST(RareFactorTest, TailIsThatMeasured) {
  const struct {
    double longer, count;
  } cases[] = {{0.05, 48}, {0.1, 21}, {0.2, 9}, {0.5, 4}, {1, 2}};
  const stats::Distribution factor = RareFactor({});
  const double median = factor.Quantile(0.5);
  for (const auto& [longer, count] : cases) {
    EXPECT_NEAR(10278 * (1 - factor.Cdf(median * (1 + longer))), count,
                2 * std::sqrt(count))
        << longer;
  }
}

TEST(RareFactorTest, OtherStepsAreAlike) {
  const stats::Distribution factor = RareFactor({});
  EXPECT_NEAR(factor.Quantile(0.01), factor.Quantile(0.985), 1e-9);
  EXPECT_NEAR(factor.Quantile(0.5), 0.999, 1e-3);
  EXPECT_GT(factor.Quantile(0.999), 1.1);
}

TEST(VariationTest, OffLeavesConstants) {
  const Variation off = Variation::Off();
  EXPECT_TRUE(ComputeTime(1, off.compute_cv).IsConstant());
  EXPECT_TRUE(NetworkTime({1, 0.5, 0.1}, off).IsConstant());
  EXPECT_TRUE(StepFactor(1, off).IsConstant());
  EXPECT_TRUE(RareFactor(off).IsConstant());
  EXPECT_EQ(SlowestFactor(1000, off), 1);
}

}  // namespace
}  // namespace prism::estimate
