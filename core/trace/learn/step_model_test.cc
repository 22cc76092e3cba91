#include "core/trace/learn/step_model.h"

#include <absl/strings/match.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/stats/sample_quantiles.h"
#include "core/trace/learn/halves.h"
#include "core/trace/learn/synthetic_trace.h"

namespace prism::trace {
namespace {

StepModel Learned(const SyntheticJob& job, uint64_t seed) {
  auto model = LearnSteps(Observe(MakeTrace(job, seed)));
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

bool HasFound(const StepModel& model, const std::string& what) {
  return std::any_of(model.findings.begin(), model.findings.end(),
                     [&](const Finding& finding) {
                       return finding.found &&
                              absl::StrContains(finding.what, what);
                     });
}

// What a job's computes may have in common.
const char* const kShared[] = {
    "rank of its own",        "spread of its own",
    "place of a micro-batch", "micro-batch after micro-batch",
    "step, in all replicas",  "load of a micro-batch",
    "step of a replica"};

struct Case {
  const char* name;
  SyntheticJob job;
  std::vector<std::string> truth;
};

std::vector<Case> Cases() {
  SyntheticJob load, both, slow, step, none;
  load.load_sd = both.load_sd = slow.load_sd = 0.3;
  both.step_sd = step.step_sd = 0.05;
  slow.slow_factor = 1.5;
  slow.slow_replica = 5;
  slow.slow_stage = 1;
  // Against a load of this width a step's factor is small; more steps show it.
  both.steps = 60;
  return {{"load", load, {"load of a micro-batch"}},
          {"load and step",
           both,
           {"load of a micro-batch", "step, in all replicas"}},
          {"slow rank", slow, {"load of a micro-batch", "rank of its own"}},
          {"step", step, {"step, in all replicas"}},
          {"none", none, {}}};
}

TEST(StepModelTest, FindsWhatIsSharedAndNothingElse) {
  for (const Case& c : Cases()) {
    const StepModel model = Learned(c.job, 11);
    for (const std::string what : kShared) {
      const bool is_true =
          std::find(c.truth.begin(), c.truth.end(), what) != c.truth.end();
      EXPECT_EQ(HasFound(model, what), is_true) << c.name << ": " << what;
    }
  }
}

// Of 60 jobs without anything in common kFalseFinds, 0.6, may have a false
// find. Five or more have a probability below 4e-4.
TEST(StepModelTest, FalseFindsAreAsRareAsTheirRate) {
  SyntheticJob job;
  job.replicas = 8;
  job.steps = 20;
  int false_finds = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const StepModel model = Learned(job, seed);
    bool found = false;
    for (const char* what : kShared) found = found || HasFound(model, what);
    false_finds += found;
  }
  EXPECT_LT(false_finds, 5);
}

TEST(StepModelTest, LoadJoinsAllStagesAndBothWays) {
  SyntheticJob job;
  job.load_sd = 0.3;
  const StepModel loaded = Learned(job, 2);
  ASSERT_EQ(loaded.computes.bundles.size(), 1);
  EXPECT_EQ(loaded.computes.bundles[0].components.size(), 4);
  job.load_sd = 0;
  EXPECT_EQ(Learned(job, 2).computes.bundles.size(), 4);
}

TEST(StepModelTest, OnlyTheSlowRankKeepsItsIdentity) {
  SyntheticJob job;
  job.slow_factor = 1.5;
  job.slow_replica = 3;
  job.slow_stage = 1;
  const StepModel model = Learned(job, 4);
  const ComputeModel& computes = model.computes;
  for (size_t d = 0; d < 32; ++d) {
    for (size_t c = 0; c < 4; ++c)
      EXPECT_EQ(computes.IsDistinct(d, c), d == 3 && c % 2 == 1) << d << c;
  }
  EXPECT_NEAR(std::exp(computes.Typical(3, 1) - computes.Typical(0, 1)), 1.5,
              0.02);
}

// The truth is the p95 of 600 steps of the same job. A quantile of n steps
// has a relative standard error of about sd * sqrt(0.05 * 0.95 / n) / density;
// the tolerances are three of them, from 60 learned steps.
TEST(StepModelTest, PredictsTheTailThatManyMoreStepsHave) {
  for (const Case& c : Cases()) {
    SyntheticJob many = c.job, few = c.job;
    many.steps = 600;
    many.replicas = few.replicas = 8;
    many.slow_replica = few.slow_replica = 5;
    few.steps = 60;
    const Observations truth = Observe(MakeTrace(many, 99));
    std::vector<double> seconds;
    for (const ObservedStep& step : truth.steps)
      seconds.push_back(step.replayed_seconds);
    std::sort(seconds.begin(), seconds.end());
    const PredictedSteps predicted = PredictSteps(Learned(few, 3), 2000, 1);
    const double p95 = stats::SortedQuantile(seconds, 0.95);
    const double spread = stats::SampleMoments(seconds).standard_deviation;
    const double tolerance =
        3 * spread * std::sqrt(0.05 * 0.95 / 60) / 0.103 / p95;
    EXPECT_NEAR(stats::SortedQuantile(predicted.simulated, 0.95) / p95, 1,
                tolerance)
        << c.name;
  }
}

TEST(StepModelTest, PredictionIsAFunctionOfItsSeed) {
  const StepModel model = Learned({.replicas = 2, .steps = 8}, 1);
  const auto seconds = [&](uint64_t seed) {
    return PredictSteps(model, 50, seed).simulated;
  };
  EXPECT_EQ(seconds(1), seconds(1));
  EXPECT_NE(seconds(1), seconds(2));
}

TEST(StepModelTest, WorksWithoutNeighboursToCompareWith) {
  for (const SyntheticJob job :
       {SyntheticJob{.replicas = 1, .stages = 1, .microbatches = 1, .steps = 2},
        SyntheticJob{.replicas = 1, .stages = 4, .steps = 9, .load_sd = 0.2},
        SyntheticJob{.replicas = 3, .stages = 1, .steps = 5}}) {
    const PredictedSteps predicted = PredictSteps(Learned(job, 1), 100, 1);
    EXPECT_GT(predicted.simulated.front(), 0);
    EXPECT_TRUE(std::isfinite(predicted.simulated.back()));
  }
}

TEST(ObservationsTest, StepsOfOtherShapesDoNotFitIn) {
  Trace trace = MakeTrace({.replicas = 2, .steps = 3}, 1);
  ObservationGatherer gatherer(trace.sizes);
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(gatherer.Add(
        *RecordedStep::From(trace.steps[static_cast<size_t>(i)], trace.sizes)));
  trace.steps[2].operations.pop_back();
  EXPECT_FALSE(gatherer.Add(*RecordedStep::From(trace.steps[2], trace.sizes)));
  EXPECT_EQ(std::move(gatherer).Finish()->steps.size(), 2);
}

TEST(ObservationsTest, LongTracesAreSampledEvenly) {
  const Trace trace = MakeTrace({.replicas = 1, .stages = 1, .steps = 400}, 1);
  const size_t operations = trace.steps[0].operations.size();
  ObservationGatherer gatherer(trace.sizes, 100 * operations);
  double all = 0, held = 0;
  for (const Step& step : trace.steps) {
    const RecordedStep recorded = *RecordedStep::From(step, trace.sizes);
    all += recorded.MeasuredSeconds() / 400;
    gatherer.Add(recorded);
  }
  const Observations observed = *std::move(gatherer).Finish();
  ASSERT_EQ(observed.steps.size(), 100);
  double spread = 0;
  for (const ObservedStep& step : observed.steps)
    held += step.measured_seconds / 100;
  for (const ObservedStep& step : observed.steps)
    spread += std::pow(step.measured_seconds - held, 2) / 99;
  EXPECT_NEAR(held, all, 4 * std::sqrt(spread / 100));
}

TEST(ObservationsTest, OneStepIsTooFew) {
  Trace trace = MakeTrace({.replicas = 1, .stages = 1, .steps = 1}, 1);
  TraceSource source(trace);
  EXPECT_EQ(ObserveTrace(source, nullptr).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace prism::trace
