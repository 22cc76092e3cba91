#include "core/trace/replay/duration_pool.h"

#include <gtest/gtest.h>

#include <cmath>

namespace prism::trace {
namespace {

DurationPool PoolOf(std::initializer_list<double> durations) {
  DurationPool pool;
  for (const double seconds : durations) pool.Add(seconds);
  return pool;
}

TEST(DurationPoolTest, FewDurationsAreExact) {
  EXPECT_EQ(PoolOf({}).Median(), 0);
  EXPECT_EQ(PoolOf({3}).Median(), 3);
  EXPECT_EQ(PoolOf({4, 1, 2}).Median(), 2);
  EXPECT_EQ(PoolOf({4, 1, 2, 3}).Median(), 2.5);
  EXPECT_EQ(PoolOf({-0.005, 0, 0.001}).Median(), 0);
  EXPECT_EQ(PoolOf({-3, -2, -1}).Median(), -2);
  EXPECT_EQ(PoolOf({-1, 0.5, 2}).Mean(), 0.5);
}

TEST(DurationPoolTest, TheMedianOfManyIsWithinACell) {
  DurationPool pool;
  for (int i = 0; i <= 100'000; ++i) pool.Add(std::exp(1e-4 * i - 9));
  EXPECT_EQ(pool.count(), 100'001);
  EXPECT_NEAR(pool.Median(), std::exp(-4), std::exp(-4) / 4096);
}

}  // namespace
}  // namespace prism::trace
