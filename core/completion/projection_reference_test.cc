// Projections against a simulator that does every step of every run.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "core/completion/projection.h"
#include "core/completion/reference_run.h"
#include "core/stats/sample_quantiles.h"

namespace prism::completion {
namespace {

using stats::Distribution;

constexpr double kDay = 86400;

Projection Answer(const RunPlan& plan, int64_t samples, uint64_t key) {
  base::UnlimitedBudget budget;
  base::InlineExecutor executor;
  return Project(plan, {.samples = samples, .random_key = key}, budget,
                 executor)
      .value();
}

double Between(double low, double high, std::mt19937_64& random) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

bool Often(std::mt19937_64& random) { return Between(0, 1, random) < 0.6; }

// Hours of second-long steps with a handful of failures; every part of a plan
// is there more often than not.
RunPlan RandomPlan(std::mt19937_64& random) {
  RunPlan plan;
  plan.steps = static_cast<int64_t>(std::exp(Between(4.5, 8, random)));
  const double steps = static_cast<double>(plan.steps);
  plan.step.standard_deviation_seconds = Between(0, 0.2, random);
  plan.step.autocorrelation = Between(-0.3, 0.8, random);
  if (Often(random)) plan.step.run_factor_deviation = 0.03;
  if (Often(random)) plan.step.job_factor_deviation = 0.05;
  if (Often(random)) {
    plan.evaluations = {
        .every_steps = static_cast<int64_t>(Between(9, 90, random)),
        .seconds = Distribution::MakeLognormal(Between(1, 9, random), 0.3),
        .after = {.steps = 2, .factor = 1.5}};
  }
  plan.checkpoints = {
      .choice = Checkpoints::Choice::kSteps,
      .interval_steps =
          1 + static_cast<int64_t>(steps * Between(0.01, 0.1, random)),
      .blocking_seconds = Between(0, 3, random)};
  if (Often(random)) {
    plan.checkpoints.non_blocking_seconds =
        0.9 * static_cast<double>(plan.checkpoints.interval_steps);
  }
  const double failures = Between(0.5, 6, random);
  plan.failures = {.nodes = static_cast<int64_t>(Between(8, 24, random)),
                   .node_loss_share = Between(0, 1, random)};
  plan.failures.per_node_day =
      failures / steps * kDay / static_cast<double>(plan.failures.nodes);
  if (Often(random)) plan.failures.node_rate_cv = 1.1;
  if (Often(random)) plan.failures.level_cv = 0.4;
  plan.restarts.seconds = Distribution::MakeLognormal(steps / 50, 0.5);
  if (Often(random)) plan.restarts.after = {.steps = 2, .factor = 3};
  plan.replacements.spares = static_cast<int64_t>(Between(0, 3, random));
  plan.replacements.repair_seconds =
      Distribution::MakeLognormal(steps * Between(0.1, 2, random), 1.5);
  if (Often(random)) {
    plan.replacements.queue_seconds =
        Distribution::MakeLognormal(steps * Between(0.05, 0.5, random), 0.8);
  }
  if (Often(random)) {
    plan.preemptions = {
        .per_day = 1.5 / steps * kDay,
        .away_seconds = Distribution::MakeLognormal(steps / 20, 0.3),
        .saves = Often(random)};
  }
  return plan;
}

struct Sums {
  std::vector<double> finish, lost, waiting, restart, writing, failures;
};

Sums Reference(const RunPlan& plan, int64_t interval, int runs,
               std::mt19937_64& random) {
  Sums sums;
  for (int i = 0; i < runs; ++i) {
    const Truth truth = DrawTruth(plan, random);
    const ReferenceOutcome outcome =
        SimulateReference(plan, truth, interval, random);
    sums.finish.push_back(outcome.finish_seconds);
    sums.lost.push_back(outcome.lost_seconds);
    sums.waiting.push_back(outcome.waiting_seconds);
    sums.restart.push_back(outcome.restart_seconds);
    sums.writing.push_back(outcome.writing_seconds);
    sums.failures.push_back(static_cast<double>(outcome.failures));
  }
  return sums;
}

// Within 5 standard errors of the difference; `slack` for what is
// approximate by construction.
void ExpectMean(const Estimate& estimate, const std::vector<double>& reference,
                double slack, const char* what) {
  const auto moments = stats::SampleMoments(reference);
  const double error = moments.standard_deviation /
                       std::sqrt(static_cast<double>(reference.size()));
  EXPECT_NEAR(estimate.value, moments.mean,
              5 * std::hypot(error, estimate.standard_error) + slack)
      << what;
}

// The stated quantiles as probabilities of the reference: binomial errors of
// both sides.
void ExpectQuantiles(const Projection& answer, std::vector<double> finish) {
  std::sort(finish.begin(), finish.end());
  const double n = static_cast<double>(finish.size());
  const double m = static_cast<double>(answer.samples);
  for (int level : {5, 25, 50, 75, 95}) {
    const double p = level / 100.0;
    const double below = static_cast<double>(
        std::upper_bound(finish.begin(), finish.end(),
                         answer.quantile_seconds[level - 1]) -
        finish.begin());
    EXPECT_NEAR(below / n, p, 5 * std::sqrt(p * (1 - p) * (1 / n + 1 / m)))
        << level;
  }
}

TEST(ProjectionReference, AgreesOnRandomPlans) {
  std::mt19937_64 random(20240229);
  for (int trial = 0; trial < 16; ++trial) {
    SCOPED_TRACE(trial);
    RunPlan plan = RandomPlan(random);
    if (trial % 3 == 1) {
      const int64_t done = plan.steps / 3;
      plan.progress = {.running = trial % 2 == 0,
                       .steps_done = done,
                       .steps_saved = done - std::min<int64_t>(done, 5)};
    }
    const Projection answer = Answer(plan, 8192, trial);
    const Sums sums = Reference(plan, answer.checkpoints.steps, 3000, random);
    // A sum taken as normal where it is not yet; seconds of some thousand.
    const double slack = 2e-4 * answer.finish_seconds.value;
    ExpectMean(answer.finish_seconds, sums.finish, slack, "finish");
    ExpectMean(answer.lost_seconds, sums.lost, slack, "lost");
    ExpectMean(answer.waiting_seconds, sums.waiting, 0, "waiting");
    ExpectMean(answer.restart_seconds, sums.restart, slack, "restart");
    ExpectMean(answer.failures, sums.failures, 0, "failures");
    ExpectMean(answer.writing_seconds, sums.writing, slack, "writing");
    ExpectQuantiles(answer, sums.finish);
  }
}

// What was seen of the run now up, drawn from the same truth as the rest.
void Watch(const Truth& truth, RunPlan& plan, std::mt19937_64& random) {
  plan.progress.running = true;
  plan.progress.steps_done = plan.steps / 4;
  plan.progress.timed_steps = 40;
  plan.progress.timed_mean_seconds =
      TimeSteps(plan, truth.job_factor * truth.present_factor, 40, random);
  double rate = 0;
  for (double r : truth.node_rates) rate += r;
  plan.progress.observed_days =
      static_cast<double>(plan.steps) / kDay * Between(0, 2, random);
  plan.progress.failures = std::poisson_distribution<int64_t>(
      rate * plan.progress.observed_days * kDay)(random);
}

// 2,000 truths, each a plan of its own and half of them watched for a while.
// A probability of p must come true in a share p of cases, decile by decile,
// within 4 binomial standard deviations and what the forecasts' own errors
// (256 samples: below 3.2 points each, averaged over a decile) leave open.
TEST(ProjectionReference, ProbabilitiesByDeadlineComeTrue) {
  constexpr int kTruths = 2000;
  std::mt19937_64 random(7);
  std::array<double, 10> forecasts = {}, hits = {}, count = {};
  for (int i = 0; i < kTruths; ++i) {
    RunPlan plan = RandomPlan(random);
    const Truth truth = DrawTruth(plan, random);
    if (i % 2 == 0) Watch(truth, plan, random);
    const Projection rough = Answer(plan, 64, 2 * i);
    plan.deadlines_seconds = {
        rough.quantile_seconds[static_cast<int>(Between(0, 99, random))]};
    const Projection answer = Answer(plan, 256, 2 * i + 1);
    const double finish =
        SimulateReference(plan, truth, answer.checkpoints.steps, random)
            .finish_seconds;
    const double p = answer.by_deadline[0].value;
    const int decile = std::min(9, static_cast<int>(p * 10));
    forecasts[decile] += p;
    hits[decile] += finish <= plan.deadlines_seconds[0] ? 1 : 0;
    ++count[decile];
  }
  for (int d = 0; d < 10; ++d) {
    ASSERT_GT(count[d], 50);
    const double p = forecasts[d] / count[d];
    const double error = std::sqrt(p * (1 - p) / count[d]);
    EXPECT_NEAR(hits[d] / count[d], p, 4 * error + 0.032 / std::sqrt(count[d]))
        << d;
  }
}

// Used plus remaining is the same run whether asked at its start or, knowing
// nothing new, on its way: the law of total expectation over what may be seen.
TEST(ProjectionReference, ForecastsOnTheWayAgreeWithTheFirst) {
  std::mt19937_64 random(3);
  RunPlan plan;
  plan.steps = 2000;
  plan.step = {.mean_seconds = 1,
               .standard_deviation_seconds = 0.1,
               .run_factor_deviation = 0.02,
               .job_factor_deviation = 0.05};
  plan.progress.running = true;
  const Projection first = Answer(plan, 4096, 1);
  constexpr int kRuns = 200;
  std::vector<double> total(kRuns);
  double narrowed = 0;
  for (int i = 0; i < kRuns; ++i) {
    const Truth truth = DrawTruth(plan, random);
    RunPlan later = plan;
    later.progress.steps_done = later.progress.timed_steps = 500;
    later.progress.timed_mean_seconds =
        TimeSteps(plan, truth.job_factor * truth.present_factor, 500, random);
    const Projection answer = Answer(later, 256, i);
    total[i] =
        500 * later.progress.timed_mean_seconds + answer.finish_seconds.value;
    narrowed = std::max(narrowed, answer.finish_deviation_seconds);
  }
  const auto moments = stats::SampleMoments(total);
  EXPECT_NEAR(moments.mean, first.finish_seconds.value,
              5 * std::hypot(moments.standard_deviation / std::sqrt(kRuns),
                             first.finish_seconds.standard_error));
  EXPECT_LT(narrowed, first.finish_deviation_seconds / 4);
}

}  // namespace
}  // namespace prism::completion
