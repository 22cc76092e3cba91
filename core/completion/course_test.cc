#include "core/completion/course.h"

#include <gtest/gtest.h>

#include <cmath>

namespace prism::completion {
namespace {

RunPlan Plan() {
  RunPlan plan;
  plan.steps = 1000;
  plan.step.mean_seconds = 2;
  plan.evaluations = {.every_steps = 70,
                      .seconds = stats::Distribution::MakeConstant(11),
                      .after = {.steps = 3, .factor = 1.5}};
  plan.checkpoints = {.blocking_seconds = 4, .non_blocking_seconds = 9};
  plan.restarts.after = {.steps = 2, .factor = 4};
  return plan;
}

// Time from being ready for `from` + 1 to being ready for `to` + 1.
double Counted(const RunPlan& plan, int64_t interval, int64_t from, int64_t to,
               bool fresh) {
  double seconds = 0;
  for (int64_t k = from + 1; k <= to; ++k) {
    seconds += 2;
    if (fresh && k - from <= 2) seconds += 2 * 3;
    if (k > 70 && (k - 1) % 70 < 3) seconds += 2 * 0.5;
    if (k % 70 == 0) seconds += 11;
    if (k == plan.steps || (interval > 0 && k % interval == 0)) seconds += 4;
  }
  return seconds;
}

TEST(Course, SumVarianceIsThatOfACorrelatedSequence) {
  for (double r : {-0.6, 0.0, 0.3, 0.9}) {
    for (int n : {1, 2, 7, 50}) {
      double direct = 0;
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) direct += std::pow(r, std::abs(i - j));
      }
      EXPECT_NEAR(SumVarianceFactor(n, r), direct, 1e-9 * n * n) << r << n;
    }
  }
}

TEST(Course, WholeRunIsTheSumOfItsParts) {
  for (int64_t interval : {0, 64, 100, 1000}) {
    const RunPlan plan = Plan();
    const Course course(plan, interval);
    for (int64_t from : {0, 1, 69, 70, 71, 500, 999}) {
      EXPECT_NEAR(course.NominalSeconds(from),
                  Counted(plan, interval, from, 1000, true) + 9, 1e-9)
          << interval << " " << from;
    }
  }
}

// Without spread every limit has an answer that can be counted out.
TEST(Course, ReachesWhatFits) {
  const RunPlan plan = Plan();
  for (int64_t interval : {1, 30, 64, 1000}) {
    const Course course(plan, interval);
    for (int64_t from : {0, 29, 70, 600}) {
      for (double limit = 0; limit < 2600; limit += 37.3) {
        const Reached reached = course.Run(from, true, 1, 0, limit, false);
        int64_t expected = from;
        for (int64_t k = from + 1; k < 1000; ++k) {
          if (k % interval == 0 &&
              Counted(plan, interval, from, k, true) + 9 <= limit) {
            expected = k;
          }
        }
        const double whole = Counted(plan, interval, from, 1000, true) + 9;
        ASSERT_EQ(reached.finished, whole <= limit);
        if (reached.finished) expected = 1000;
        ASSERT_EQ(reached.saved, expected) << interval << from << limit;
        ASSERT_NEAR(reached.seconds,
                    reached.finished
                        ? whole
                        : Counted(plan, interval, from, expected, true),
                    1e-9);
      }
    }
  }
}

TEST(Course, SavesEveryWholeStepIfAsked) {
  const RunPlan plan = Plan();
  const Course course(plan, 64);
  for (double limit = 0; limit < 500; limit += 1.3) {
    const Reached reached = course.Run(5, false, 1, 0, limit, true);
    EXPECT_LE(Counted(plan, 64, 5, reached.saved, false), limit);
    EXPECT_GT(Counted(plan, 64, 5, reached.saved + 1, false), limit);
  }
}

TEST(Course, AFactorStretchesStepsAlone) {
  RunPlan plan = Plan();
  plan.steps = 60;
  const Course course(plan, 0);
  const Reached once = course.Run(0, false, 1, 0, 1e9, false);
  const Reached twice = course.Run(0, false, 2, 0, 1e9, false);
  EXPECT_DOUBLE_EQ(twice.seconds - once.seconds, 60 * 2);
  EXPECT_DOUBLE_EQ(twice.writing_seconds, 4 + 9);
}

}  // namespace
}  // namespace prism::completion
