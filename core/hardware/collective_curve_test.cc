#include "core/hardware/collective_curve.h"

#include <gtest/gtest.h>

namespace prism::hardware {
namespace {

TEST(CollectiveCurveTest, WithoutWaysTakesNoTime) {
  EXPECT_EQ(CollectiveCurve().At(1e9).seconds, 0);
}

TEST(CollectiveCurveTest, FastestWayCounts) {
  CollectiveCurve curve;
  curve.Add(1, 2);
  curve.Add(5, 1);
  EXPECT_DOUBLE_EQ(curve.At(3).seconds, 7);
  EXPECT_DOUBLE_EQ(curve.At(3).latency_seconds, 1);
  EXPECT_DOUBLE_EQ(curve.At(10).seconds, 15);
  EXPECT_DOUBLE_EQ(curve.At(10).latency_seconds, 5);
}

TEST(CollectiveCurveTest, RampIsTheRootOfRampAndTransfer) {
  CollectiveCurve curve;
  curve.Add(0, 0.5, 8);
  // 4 seconds at full rate, and sqrt(8 x 4) until it is reached.
  EXPECT_DOUBLE_EQ(curve.At(8).seconds, 4 + 5.656854249492381);
  EXPECT_EQ(curve.At(8).latency_seconds, 0);
}

TEST(CollectiveCurveTest, EmptyMessagesTakeTheLatency) {
  CollectiveCurve curve;
  curve.Add(3, 1, 1);
  EXPECT_EQ(curve.At(0).seconds, 3);
}

}  // namespace
}  // namespace prism::hardware
