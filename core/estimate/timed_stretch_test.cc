#include "core/estimate/timed_stretch.h"

#include <gtest/gtest.h>

namespace prism::estimate {
namespace {

using hardware::LinkTime;
using Stretches = std::vector<TimedStretch>;

double Total(const Stretches& stretches) {
  double total = 0;
  for (const TimedStretch& stretch : stretches) {
    total += stretch.seconds;
    if (stretch.then) total += stretch.then->seconds;
  }
  return total;
}

TEST(JoinTest, OpenEndJoinsTheNextRound) {
  const Stretches joined = JoinShortStretches(
      {{3, false, LinkTime{1, 0}}, {4, false, LinkTime{1, 0}}, {2, false, {}}});
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_EQ(joined[0].seconds, 5);
  EXPECT_EQ(joined[1].seconds, 4);
}

TEST(JoinTest, ShortStretchGivesItsCollectiveToTheOneBefore) {
  const Stretches joined = JoinShortStretches({{3, false, LinkTime{1, 0.25}},
                                               {0.1, false, LinkTime{2, 0.5}},
                                               {4, false, LinkTime{1, 0}}});
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_EQ(joined[0].then->seconds, 3);
  EXPECT_EQ(joined[0].then->latency_seconds, 0.75);
  EXPECT_EQ(joined[1].seconds, 4.1);
}

TEST(JoinTest, RecomputationStaysApart) {
  const Stretches stretches = {{3, true, LinkTime{1, 0}},
                               {1, true, {}},
                               {5, false, LinkTime{1, 0}},
                               {2, false, {}}};
  const Stretches joined = JoinShortStretches(stretches);
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_TRUE(joined[0].recompute);
  EXPECT_EQ(joined[0].seconds, 4);
  EXPECT_FALSE(joined[1].recompute);
  EXPECT_EQ(joined[1].seconds, 7);
  EXPECT_EQ(Total(joined), Total(stretches));
}

TEST(JoinTest, TheOnlyStretchOfItsKindStays) {
  const Stretches joined = JoinShortStretches({{3, true, {}}, {2, false, {}}});
  EXPECT_EQ(joined.size(), 2u);
}

TEST(JoinTest, LoneCollectiveStays) {
  const Stretches joined =
      JoinShortStretches({{3, false, {}}, {0.1, false, LinkTime{1, 0}}});
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_EQ(joined[0].seconds, 3.1);
  EXPECT_EQ(joined[0].then->seconds, 1);
}

}  // namespace
}  // namespace prism::estimate
