#include "core/completion/closed_forms.h"

#include <gtest/gtest.h>

#include <cmath>

namespace prism::completion {
namespace {

constexpr double kRsc1 = 6.50e-3;  // failures per node-day, arXiv:2410.21680
constexpr double kHour = 3600, kMinute = 60;

CheckpointCycle Published(double interval_minutes) {
  return {.failures_per_second = 16000 / 8 * kRsc1 / kSecondsPerDay,
          .restart_seconds = 5 * kMinute,
          .interval_seconds = interval_minutes * kMinute};
}

TEST(ClosedForms, MeanTimeToFailureIsAsPublished) {
  EXPECT_NEAR(MeanTimeToFailureSeconds(16384 / 8, kRsc1) / kHour, 1.8, 0.005);
  EXPECT_NEAR(MeanTimeToFailureSeconds(131072 / 8, kRsc1) / kHour, 0.23, 0.005);
  EXPECT_TRUE(std::isinf(MeanTimeToFailureSeconds(100, 0)));
}

TEST(ClosedForms, RatiosOfPublishedCases) {
  EXPECT_NEAR(FirstOrderRatio(Published(60)), 0.684, 0.0005);
  EXPECT_NEAR(FirstOrderRatio(Published(5)), 0.932, 0.0005);
  EXPECT_NEAR(ExactRatio(Published(60)), 0.720, 0.0005);
  EXPECT_NEAR(ExactRatio(Published(5)), 0.934, 0.0005);
}

TEST(ClosedForms, ExactTendsToFirstOrderWithTheRate) {
  CheckpointCycle cycle = {.failures_per_second = 1e-8,
                           .restart_seconds = 300,
                           .interval_seconds = 1000,
                           .blocking_seconds = 10};
  EXPECT_NEAR(ExactRatio(cycle), FirstOrderRatio(cycle), 1e-6);
  cycle.failures_per_second = 0;
  EXPECT_DOUBLE_EQ(ExactRatio(cycle), 1000.0 / 1010.0);
}

// Whatever is tried around it is worse.
TEST(ClosedForms, ExactIntervalIsTheBest) {
  for (double rate : {1e-12, 1e-9, 1e-7, 1e-5, 1e-3, 1e-1}) {
    const double best = ExactInterval(rate, 30);
    CheckpointCycle cycle = {.failures_per_second = rate,
                             .restart_seconds = 100,
                             .interval_seconds = best,
                             .blocking_seconds = 30};
    const double ratio = ExactRatio(cycle);
    for (double change : {0.9, 1.1}) {
      cycle.interval_seconds = best * change;
      EXPECT_LE(ExactRatio(cycle), ratio) << rate << " " << change;
    }
  }
}

// For small x = L w the two differ by a third of sqrt(2 x), relatively.
TEST(ClosedForms, ExactIntervalTendsToFirstOrder) {
  for (double rate : {1e-12, 1e-10, 1e-8, 1e-6}) {
    const double relative =
        ExactInterval(rate, 10) / FirstOrderInterval(rate, 10);
    const double s = std::sqrt(2 * rate * 10);
    EXPECT_NEAR(relative, 1 - s / 3, s * s) << rate;
  }
}

}  // namespace
}  // namespace prism::completion
