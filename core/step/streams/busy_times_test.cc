#include "core/step/streams/busy_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace prism::step {
namespace {

// One row and two streams; beside a busy one time counts double.
class BusyTimesTest : public testing::Test {
 protected:
  BusyTimesTest() { times_.Reset(2, 1, 2); }

  void Add(int stream, double start, double end) {
    times_.Add(stream, &start, &end);
  }

  double End(double start, double work) {
    double end = 0;
    times_.Stretch(&start, &work, &end);
    return end;
  }

  BusyTimes times_;
};

TEST_F(BusyTimesTest, NothingBusySlowsNothing) { EXPECT_EQ(End(3, 4), 7); }

TEST_F(BusyTimesTest, IntervalInTheMiddleCostsItsLength) {
  Add(0, 4, 6);  // one of the four is done in it
  EXPECT_EQ(End(3, 4), 8);
}

TEST_F(BusyTimesTest, WorkCanBeginAndEndInside) {
  Add(0, 4, 10);
  EXPECT_EQ(End(5, 2), 9);
}

TEST_F(BusyTimesTest, LaterIntervalsDoNotMatter) {
  Add(0, 9, 10);
  EXPECT_EQ(End(3, 4), 7);
}

TEST_F(BusyTimesTest, StreamsCountOnce) {
  Add(0, 3, 6);
  Add(1, 5, 7);  // busy from 3 to 7: two are done
  EXPECT_EQ(End(3, 4), 9);
}

TEST_F(BusyTimesTest, WhatFollowsWithoutABreakIsFound) {
  Add(0, 3, 5);
  EXPECT_EQ(End(3, 1), 5);
  Add(0, 5, 9);
  EXPECT_EQ(End(5, 2), 9);
  EXPECT_EQ(times_.size(), 1u);
}

TEST_F(BusyTimesTest, NoWorkTakesNoTime) {
  Add(0, 0, 10);
  EXPECT_EQ(End(5, 0), 5);
}

TEST(BusyTimesRowsTest, EveryRowHasItsOwnTimes) {
  BusyTimes times;
  times.Reset(1, 2, 2);
  const std::vector<double> start = {1, 5}, end = {3, 7};
  times.Add(0, start.data(), end.data());
  const std::vector<double> from = {1, 1}, work = {2, 2};
  std::vector<double> done(2);
  times.Stretch(from.data(), work.data(), done.data());
  EXPECT_EQ(done, (std::vector<double>{4, 3}));
}

// Work done in [from, to] where `busy` intervals halve the pace.
double WorkDone(std::vector<std::pair<double, double>> busy, double from,
                double to) {
  std::sort(busy.begin(), busy.end());
  double covered = 0, reached = from;
  for (const auto& [start, end] : busy) {
    const double begin = std::max(start, reached);
    const double stop = std::min(end, to);
    if (stop <= begin) continue;
    covered += stop - begin;
    reached = stop;
  }
  return (to - from) - covered / 2;
}

// A thousand intervals and computations on three streams: each takes as long as
// its work, and what is over is dropped.
TEST(BusyTimesRandomTest, TimeTakenIsThatOfTheWork) {
  std::mt19937_64 random(1);
  std::exponential_distribution<> length(1);
  BusyTimes times;
  times.Reset(3, 1, 2);
  std::vector<std::pair<double, double>> busy;
  std::vector<double> free(3, 0);
  double now = 0;
  for (int i = 0; i < 1000; ++i) {
    const int stream = static_cast<int>(random() % 3);
    const double start =
        std::max(now, free[stream]) + (random() % 2 == 0 ? 0 : length(random));
    const double end = free[stream] = start + length(random);
    times.Add(stream, &start, &end);
    busy.emplace_back(start, end);
    const double work = length(random);
    double done = 0;
    times.Stretch(&now, &work, &done);
    ASSERT_NEAR(WorkDone(busy, now, done), work, 1e-9) << i;
    now = done;
  }
  EXPECT_LT(times.size(), 300u);
}

TEST(BusyTimesMemoryTest, GrowsWithTheIntervalsAndNoFurther) {
  BusyTimes times;
  times.Reset(1, 2, 2);
  EXPECT_EQ(times.bytes(), 0u);
  const std::vector<double> work = {0.5, 0.5};
  std::vector<double> done(2);
  // Intervals [2 i, 2 i + 1], none of which computation has reached.
  const auto add = [&](int i) {
    const std::vector<double> start(2, 2 * i), end(2, 2 * i + 1);
    times.Add(0, start.data(), end.data());
  };
  for (int i = 0; i < 1000; ++i) add(i);
  EXPECT_GE(times.bytes(), 1000 * 2 * 16u);
  EXPECT_LE(times.bytes(), 2 * 1000 * 2 * 16u);
  // Computation follows each from here on.
  const size_t before = times.bytes();
  for (int i = 1000; i < 9000; ++i) {
    add(i);
    const std::vector<double> from(2, 2 * i);
    times.Stretch(from.data(), work.data(), done.data());
  }
  EXPECT_LE(times.bytes(), 2 * before);
}

}  // namespace
}  // namespace prism::step
