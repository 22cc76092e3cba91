#include "core/completion/projection.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "core/completion/closed_forms.h"
#include "core/completion/course.h"

namespace prism::completion {
namespace {

using stats::Distribution;

constexpr double kDay = kSecondsPerDay;
constexpr int kMedian = 49;

Projection Answer(const RunPlan& plan, const ProjectionOptions& options = {}) {
  base::UnlimitedBudget budget;
  base::InlineExecutor executor;
  return Project(plan, options, budget, executor).value();
}

// A week on 500 nodes with everything in it.
RunPlan Week() {
  RunPlan plan;
  plan.steps = 100'000;
  plan.step = {.mean_seconds = 5,
               .standard_deviation_seconds = 0.1,
               .autocorrelation = 0.5,
               .run_factor_deviation = 0.005,
               .job_factor_deviation = 0.02};
  plan.evaluations = {.every_steps = 500,
                      .seconds = Distribution::MakeLognormal(40, 0.2),
                      .after = {.steps = 1, .factor = 1.4}};
  plan.checkpoints = {.choice = Checkpoints::Choice::kSteps,
                      .interval_steps = 200,
                      .blocking_seconds = 10,
                      .non_blocking_seconds = 30};
  plan.failures = {.nodes = 500,
                   .per_node_day = 0.01,
                   .node_rate_cv = 1,
                   .node_loss_share = 0.5};
  plan.restarts = {.seconds = Distribution::MakeLognormal(400, 0.5),
                   .after = {.steps = 2, .factor = 2}};
  plan.replacements = {.spares = 3,
                       .queue_seconds = Distribution::MakeLognormal(7200, 1)};
  plan.preemptions = {.per_day = 0.1,
                      .away_seconds = Distribution::MakeConstant(3600)};
  plan.deadlines_seconds = {7 * kDay};
  return plan;
}

// arXiv:2410.21680: 16000 GPUs of RSC-1, restart 5 min, no blocking write.
// The long run of the closed form is approached by a year.
TEST(Projection, EffectiveRatioOfPublishedCases) {
  const std::pair<double, double> cases[] = {{60, 0.720}, {5, 0.934}};
  for (const auto& [minutes, ratio] : cases) {
    RunPlan plan;
    plan.step.mean_seconds = 5;
    plan.steps = static_cast<int64_t>(365 * kDay / 5);
    plan.checkpoints = {.choice = Checkpoints::Choice::kSeconds,
                        .interval_seconds = minutes * 60};
    plan.failures = {.nodes = 2000, .per_node_day = 6.50e-3};
    plan.restarts.seconds = Distribution::MakeConstant(300);
    const Projection answer = Answer(plan, {.samples = 256});
    EXPECT_NEAR(answer.effective_ratio.value, ratio, 0.005 * ratio);
    const double exact = ExactRatio({.failures_per_second = 13 / kDay,
                                     .restart_seconds = 300,
                                     .interval_seconds = minutes * 60});
    EXPECT_NEAR(answer.effective_ratio.value, exact,
                5 * answer.effective_ratio.standard_error + 2e-4);
  }
}

// With both parts of a write, and nodes to wait for.
TEST(Projection, EffectiveRatioFollowsTheClosedFormWithWrites) {
  RunPlan plan;
  plan.steps = 2'000'000;
  plan.step.mean_seconds = 2;
  plan.checkpoints = {.choice = Checkpoints::Choice::kSteps,
                      .interval_steps = 300,
                      .blocking_seconds = 40,
                      .non_blocking_seconds = 200};
  plan.failures = {.nodes = 100, .per_node_day = 0.2};
  plan.restarts.seconds = Distribution::MakeConstant(300);
  const double exact = ExactRatio({.failures_per_second = 20 / kDay,
                                   .restart_seconds = 300,
                                   .interval_seconds = 600,
                                   .blocking_seconds = 40,
                                   .non_blocking_seconds = 200});
  const Projection answer = Answer(plan, {.samples = 256});
  EXPECT_NEAR(answer.effective_ratio.value, exact,
              5 * answer.effective_ratio.standard_error + 3e-4);
}

TEST(Projection, WithoutFailuresARunIsTheSumOfItsSteps) {
  RunPlan plan;
  plan.steps = 10'000;
  plan.step = {.mean_seconds = 3,
               .standard_deviation_seconds = 0.3,
               .autocorrelation = 0.4};
  const Projection answer = Answer(plan, {.samples = 4096});
  const double deviation = 0.3 * std::sqrt(SumVarianceFactor(10'000, 0.4));
  EXPECT_NEAR(answer.finish_seconds.value, 30'000,
              5 * deviation / std::sqrt(4096));
  EXPECT_NEAR(answer.finish_deviation_seconds, deviation,
              5 * deviation / std::sqrt(2 * 4096));
  EXPECT_NEAR(answer.quantile_seconds[kMedian], 30'000,
              5 * answer.quantile_error_seconds[kMedian]);
  EXPECT_EQ(answer.failures.value, 0);
  EXPECT_NEAR(answer.effective_ratio.value, 1, 1e-12);
}

TEST(Projection, DoneIsDone) {
  RunPlan plan = Week();
  plan.progress.steps_done = plan.steps;
  const Projection answer = Answer(plan, {.samples = 128});
  EXPECT_EQ(answer.finish_seconds.value, 0);
  EXPECT_EQ(answer.quantile_seconds[98], 0);
  EXPECT_EQ(answer.by_deadline[0].value, 1);
  EXPECT_EQ(answer.effective_ratio.value, 1);
}

TEST(Projection, TimeIsAccountedFor) {
  RunPlan plan = Week();
  plan.progress = {.running = true, .steps_done = 1'150, .steps_saved = 800};
  const Projection answer = Answer(plan, {.samples = 512});
  const double parts =
      answer.productive_seconds.value + answer.lost_seconds.value +
      answer.writing_seconds.value + answer.restart_seconds.value +
      answer.waiting_seconds.value + answer.away_seconds.value;
  EXPECT_NEAR(parts, answer.finish_seconds.value, 1e-6 * parts);
  for (double part :
       {answer.lost_seconds.value, answer.writing_seconds.value,
        answer.restart_seconds.value, answer.waiting_seconds.value,
        answer.away_seconds.value}) {
    EXPECT_GT(part, 0);
  }
}

// Equal keys: what makes a run worse makes the median worse on few samples.
TEST(Projection, WorseIsLater) {
  auto median = [](const RunPlan& plan) {
    return Answer(plan, {.samples = 256}).quantile_seconds[kMedian];
  };
  RunPlan plan = Week();
  const double base = median(plan);
  plan.failures.per_node_day *= 1.05;
  EXPECT_GT(median(plan), base);
  plan = Week();
  plan.restarts.seconds = plan.restarts.seconds.ScaledBy(1.05);
  EXPECT_GT(median(plan), base);
  plan = Week();
  plan.steps += 200;
  EXPECT_GT(median(plan), base);
  plan = Week();
  plan.preemptions.per_day *= 1.2;
  EXPECT_GT(median(plan), base);
  plan = Week();
  plan.checkpoints.blocking_seconds += 1;
  EXPECT_GT(median(plan), base);
}

TEST(Projection, SparesNeverHurt) {
  RunPlan plan = Week();
  plan.replacements.queue_seconds.reset();
  double before = std::numeric_limits<double>::infinity();
  for (int64_t spares : {0, 1, 2, 4, 8, 16, 64}) {
    plan.replacements.spares = spares;
    const double mean = Answer(plan, {.samples = 256}).finish_seconds.value;
    EXPECT_LE(mean, before) << spares;
    before = mean;
  }
  EXPECT_EQ(Answer(plan, {.samples = 256}).waiting_seconds.value, 0);
}

// Two intervals share their failures: the error of the difference is a small
// part of the error of either.
TEST(Projection, WhatIfsShareTheirNoise) {
  RunPlan plan = Week();
  std::vector<double> difference, own;
  for (uint64_t key = 0; key < 12; ++key) {
    plan.checkpoints.interval_steps = 200;
    const double a =
        Answer(plan, {.samples = 64, .random_key = key}).finish_seconds.value;
    plan.checkpoints.interval_steps = 220;
    const double b =
        Answer(plan, {.samples = 64, .random_key = key}).finish_seconds.value;
    difference.push_back(b - a);
    own.push_back(a);
  }
  auto spread = [](const std::vector<double>& x) {
    double mean = 0, squares = 0;
    for (double v : x) mean += v / static_cast<double>(x.size());
    for (double v : x) squares += (v - mean) * (v - mean);
    return std::sqrt(squares);
  };
  EXPECT_LT(spread(difference), spread(own) / 3);
}

// Failures of a run that ends after a fixed time up: Poisson given the rate,
// so Var = m + (m cv)^2.
TEST(Projection, UnlikeNodesSpreadTheCount) {
  RunPlan plan;
  plan.steps = 100'000;
  plan.step.mean_seconds = 1;
  plan.checkpoints = {.choice = Checkpoints::Choice::kSteps,
                      .interval_steps = 1};
  plan.failures = {.nodes = 50, .per_node_day = 2};
  const double alike = Answer(plan, {.samples = 2048}).failures_deviation;
  plan.failures.node_rate_cv = 2;
  const Projection unlike = Answer(plan, {.samples = 2048});
  const double mean = 100 * 100'000 / kDay;
  EXPECT_NEAR(alike, std::sqrt(mean), 5 * std::sqrt(mean / 2 / 2048));
  const double wide = std::sqrt(mean + mean * mean * 4 / 50);
  // The mixture's kurtosis is below 4: Var s^2 < 3 s^4 / n.
  EXPECT_NEAR(unlike.failures_deviation, wide,
              5 * wide * std::sqrt(0.75 / 2048));
}

TEST(Projection, TimedStepsAndFailuresNarrowTheForecast) {
  RunPlan plan = Week();
  plan.replacements.spares = 1000;
  plan.preemptions.per_day = 0;
  plan.failures.level_cv = 0.5;
  plan.progress = {.running = true, .steps_done = 20'000};
  const double blind = Answer(plan, {.samples = 1024}).finish_deviation_seconds;
  plan.progress.timed_steps = 5'000;
  plan.progress.timed_mean_seconds = 5;
  const double timed = Answer(plan, {.samples = 1024}).finish_deviation_seconds;
  EXPECT_LT(timed, 0.9 * blind);
  plan.progress.failures = 10;
  plan.progress.observed_days = 2;
  EXPECT_LT(Answer(plan, {.samples = 1024}).finish_deviation_seconds, timed);
  plan.progress.timed_mean_seconds = 5.2;
  const double slow = Answer(plan, {.samples = 1024}).finish_seconds.value;
  plan.progress.timed_mean_seconds = 5;
  EXPECT_GT(slow, Answer(plan, {.samples = 1024}).finish_seconds.value);
}

TEST(Projection, ErrorsReachTheirTargets) {
  RunPlan plan = Week();
  plan.deadlines_seconds = {
      Answer(plan, {.samples = 512}).quantile_seconds[kMedian]};
  const Projection answer = Answer(plan);
  EXPECT_EQ(answer.quality, Quality::kFull);
  EXPECT_LE(answer.quantile_error_seconds[kMedian],
            0.001 * answer.quantile_seconds[kMedian]);
  EXPECT_LE(answer.by_deadline[0].standard_error, 0.005);
}

// Stated errors against how answers of 40 keys differ: their variance over
// the mean stated one is within 4 standard errors, sqrt(2 / 39) each, of 1,
// plus what 15 degrees of freedom leave open in the stated ones.
TEST(Projection, StatedErrorsAreTrue) {
  RunPlan plan = Week();
  plan.deadlines_seconds = {
      Answer(plan, {.samples = 1024}).quantile_seconds[kMedian]};
  double sum = 0, squares = 0, stated = 0;
  constexpr int kKeys = 40;
  for (uint64_t key = 1; key <= kKeys; ++key) {
    const Projection answer = Answer(plan, {.samples = 256, .random_key = key});
    sum += answer.by_deadline[0].value;
    squares += answer.by_deadline[0].value * answer.by_deadline[0].value;
    stated += answer.by_deadline[0].standard_error *
              answer.by_deadline[0].standard_error;
  }
  const double variance = (squares - sum * sum / kKeys) / (kKeys - 1);
  EXPECT_NEAR(variance / (stated / kKeys), 1, 4 * std::sqrt(2.0 / 39));
}

TEST(Projection, RepeatsOnAnyNumberOfThreads) {
  const RunPlan plan = Week();
  base::UnlimitedBudget budget;
  base::ThreadExecutor three(3);
  const Projection one = Answer(plan, {.samples = 512});
  const Projection other =
      Project(plan, {.samples = 512}, budget, three).value();
  EXPECT_EQ(one.quantile_seconds, other.quantile_seconds);
  EXPECT_EQ(one.finish_seconds.value, other.finish_seconds.value);
  EXPECT_EQ(one.by_deadline[0].standard_error,
            other.by_deadline[0].standard_error);
}

// Failures come faster than any restart: there is no end, and saying so takes
// no time.
TEST(Projection, HopelessRunsNeverEnd) {
  RunPlan plan = Week();
  plan.failures.per_node_day = 1000;
  plan.deadlines_seconds = {1e9};
  const Projection answer = Answer(plan, {.samples = 64});
  EXPECT_EQ(answer.unfinished_share, 1);
  EXPECT_TRUE(std::isinf(answer.finish_seconds.value));
  EXPECT_TRUE(std::isinf(answer.quantile_seconds[0]));
  EXPECT_EQ(answer.by_deadline[0].value, 0);
  EXPECT_EQ(answer.effective_ratio.value, 0);
}

TEST(Projection, SomeRunsMayEnd) {
  RunPlan plan = Week();
  plan.failures.per_node_day = 0.2;
  plan.failures.level_cv = 2;
  plan.preemptions.per_day = 0;
  const Projection answer = Answer(plan, {.samples = 256});
  EXPECT_GT(answer.unfinished_share, 0);
  EXPECT_LT(answer.unfinished_share, 1);
  EXPECT_TRUE(std::isfinite(answer.quantile_seconds[4]));
  EXPECT_TRUE(std::isinf(answer.quantile_seconds[98]));
}

// A corner each of the ranges in run_plan.h: everything ends, nothing is NaN.
TEST(Projection, CornersOfTheRangesAreAnswered) {
  for (int corner = 0; corner < 256; ++corner) {
    auto pick = [&](int bit, double low, double high) {
      return (corner >> bit & 1) != 0 ? high : low;
    };
    RunPlan plan = Week();
    plan.steps = static_cast<int64_t>(pick(0, 1, 1e12));
    plan.step.standard_deviation_seconds = pick(1, 0, 50);
    plan.step.autocorrelation = pick(2, -0.9, 0.99);
    plan.failures.per_node_day = pick(3, 0, 1);
    plan.failures.level_cv = pick(4, 0, 10);
    plan.checkpoints.choice = pick(5, 0, 1) > 0 ? Checkpoints::Choice::kNone
                                                : Checkpoints::Choice::kBest;
    plan.step.run_factor_deviation = pick(6, 0, 0.5);
    plan.progress.running = pick(7, 0, 1) > 0;
    class Script final : public base::Budget {
     public:
      bool Cancelled() const override { return false; }
      absl::Duration Elapsed() const override { return absl::ZeroDuration(); }
      absl::Duration Remaining() const override {
        return ++polls_ < 20'000 ? absl::InfiniteDuration()
                                 : -absl::InfiniteDuration();
      }

     private:
      mutable std::atomic<int64_t> polls_{0};
    } budget;
    base::InlineExecutor executor;
    const auto answer = Project(plan, {.samples = 32}, budget, executor);
    if (!answer.ok()) {
      EXPECT_EQ(answer.status().code(), absl::StatusCode::kDeadlineExceeded);
      continue;
    }
    EXPECT_FALSE(std::isnan(answer->finish_seconds.value)) << corner;
    EXPECT_FALSE(std::isnan(answer->finish_deviation_seconds)) << corner;
    EXPECT_FALSE(std::isnan(answer->effective_ratio.value)) << corner;
    EXPECT_FALSE(std::isnan(answer->lost_seconds.value)) << corner;
    for (int i = 0; i < Projection::kLevels; ++i) {
      EXPECT_FALSE(std::isnan(answer->quantile_seconds[i])) << corner;
      EXPECT_FALSE(std::isnan(answer->quantile_error_seconds[i])) << corner;
    }
  }
}

// Ends after so many polls.
class PolledBudget final : public base::Budget {
 public:
  PolledBudget(int64_t polls, bool cancels) : left_(polls), cancels_(cancels) {}
  bool Cancelled() const override { return cancels_ && --left_ < 0; }
  absl::Duration Elapsed() const override { return absl::ZeroDuration(); }
  absl::Duration Remaining() const override {
    if (cancels_ || --left_ >= 0) return absl::Seconds(1);
    return absl::ZeroDuration();
  }

 private:
  mutable std::atomic<int64_t> left_;
  const bool cancels_;
};

TEST(Projection, ADeadlineReducesTheAnswer) {
  base::InlineExecutor executor;
  const PolledBudget budget(10'000, false);
  const auto answer = Project(Week(), {.samples = 100'000}, budget, executor);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->quality, Quality::kReduced);
  EXPECT_GE(answer->samples, 128);
  EXPECT_LT(answer->samples, 100'000);
}

TEST(Projection, NoAnswerInNoTime) {
  base::InlineExecutor executor;
  const auto answer = Project(Week(), {}, PolledBudget(3, false), executor);
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(Projection, CancellingEndsIt) {
  base::InlineExecutor executor;
  const auto answer =
      Project(Week(), {.samples = 100'000}, PolledBudget(500, true), executor);
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace prism::completion
