#include "core/explain/compared_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/explain/source.h"
#include "core/step/step_profile.h"
#include "core/step/test_support.h"

namespace prism::explain {
namespace {

using stats::Distribution;
using step::StepGraph;
using step::StepProfile;
using testing::SizeIs;

ComparedSteps Compare(const std::vector<StepGraph>& graphs,
                      const ComparisonOptions& options, int threads = 1) {
  base::ThreadExecutor executor(threads);
  auto compared =
      CompareSteps(graphs, options, base::UnlimitedBudget(), executor);
  EXPECT_TRUE(compared.ok()) << compared.status();
  return compared.ok() ? *std::move(compared) : ComparedSteps();
}

// 4 replicas of 4 stages of 2 lanes.
StepProfile Profile() {
  StepProfile profile;
  profile.data = 4;
  profile.pipeline = 4;
  profile.tensor = 2;
  profile.microbatches = 8;
  step::ProfileSegment segment = step::ComputeSegment(
      Distribution::MakeGamma(1, 0.1), step::Sync::kTensor, 6);
  segment.collective = Distribution::MakeLognormal(0.2, 0.3);
  profile.forward = {segment};
  profile.backward = {segment, segment};
  profile.transfer = Distribution::MakeLognormal(0.3, 0.5);
  profile.gradient_sync = Distribution::MakeGamma(4, 0.2);
  profile.optimizer = Distribution::MakeConstant(2);
  profile.compute_regime = Distribution::MakeNormal(1, 0.01);
  return profile;
}

std::vector<StepGraph> AllTypical(const StepProfile& profile) {
  const StepGraph graph = BuildGraph(profile);
  std::vector<StepGraph> graphs = {graph};
  for (const Source& source : FindSources(graph).list) {
    graphs.push_back(WithTypical(graph, source));
  }
  return graphs;
}

TEST(CompareSteps, WhatDoesNotMatterChangesNothing) {
  const StepGraph graph = BuildGraph(Profile());
  const ComparedSteps compared = Compare({graph, graph}, {.samples = 200});
  ASSERT_THAT(compared.steps, SizeIs(2));
  EXPECT_EQ(P95Difference(compared.steps[1], compared.steps[0]).value, 0);
  EXPECT_EQ(P95Difference(compared.steps[1], compared.steps[0]).standard_error,
            0);
  EXPECT_EQ(VarianceShare(compared.steps[1], compared.steps[0]).value, 0);
}

// On the same draws a difference is much surer than the steps themselves.
TEST(CompareSteps, DifferencesAreSurerThanSteps) {
  StepProfile profile = Profile();
  const StepGraph graph = BuildGraph(profile);
  profile.optimizer = Distribution::MakeConstant(3);
  const ComparedSteps compared =
      Compare({graph, BuildGraph(profile)}, {.samples = 400});
  const Difference median = P50Difference(compared.steps[1], compared.steps[0]);
  // Nearly: the optimizer, too, is multiplied by what all compute shares.
  EXPECT_NEAR(median.value, 0.001, 1e-4);
  EXPECT_LT(median.standard_error,
            0.05 * compared.steps[0].time.standard_error_seconds[3]);
}

TEST(CompareSteps, ThreadsDoNotChangeNumbers) {
  const auto graphs = AllTypical(Profile());
  const ComparedSteps one = Compare(graphs, {.samples = 100}, 1);
  const ComparedSteps three = Compare(graphs, {.samples = 100}, 3);
  for (size_t i = 0; i < graphs.size(); ++i) {
    EXPECT_EQ(one.steps[i].time.quantile_seconds,
              three.steps[i].time.quantile_seconds);
  }
}

// The two methods tell the same of every source.
TEST(CompareSteps, StructureAgreesWithDraws) {
  const auto graphs = AllTypical(Profile());
  const ComparedSteps structure = Compare(
      graphs, {.way = ComparisonOptions::Way::kStructure, .random_key = 5});
  const ComparedSteps draws =
      Compare(graphs, {.samples = 800, .random_key = 5});
  EXPECT_EQ(structure.method, step::Method::kAuto);
  EXPECT_EQ(draws.method, step::Method::kMonteCarlo);
  const double spread = std::sqrt(draws.steps[0].summary.variance);
  for (size_t i = 1; i < graphs.size(); ++i) {
    const auto near = [&](Difference (*difference)(const ComparedStep&,
                                                   const ComparedStep&),
                          double unit) {
      const Difference a = difference(structure.steps[i], structure.steps[0]);
      const Difference b = difference(draws.steps[i], draws.steps[0]);
      // Four errors, and what structure is allowed to leave out.
      EXPECT_NEAR(
          a.value, b.value,
          4 * std::hypot(a.standard_error, b.standard_error) + 0.05 * unit)
          << i;
    };
    near(VarianceShare, 1);
    near(P50Difference, spread);
    near(P95Difference, spread);
  }
}

TEST(CompareSteps, WithLittleTimeThereAreFewerSteps) {
  const StepGraph graph = BuildGraph(Profile());
  base::InlineExecutor executor;
  step::ScriptedBudget budget(
      {.per_look = absl::Milliseconds(1), .deadline = absl::Milliseconds(400)});
  const auto compared =
      CompareSteps({graph, graph}, {.samples = 1'000'000}, budget, executor);
  // So many do not fit in whatever the machine: a look is not a batch.
  if (compared.ok()) {
    EXPECT_EQ(compared->quality, step::Quality::kReduced);
    EXPECT_LT(compared->samples, 1'000'000);
  } else {
    EXPECT_TRUE(absl::IsDeadlineExceeded(compared.status()));
  }
}

TEST(CompareSteps, AHurriedAnswerIsReduced) {
  const StepGraph graph = BuildGraph(Profile());
  base::InlineExecutor executor;
  constexpr absl::Duration kLook = absl::Milliseconds(1);
  const ComparisonOptions options = {.samples = 640};
  const step::ScriptedBudget whole({.per_look = kLook});
  ASSERT_TRUE(CompareSteps({graph, graph}, options, whole, executor).ok());
  // Time for a part of the rounds.
  const step::ScriptedBudget budget(
      {.per_look = kLook, .deadline = 0.6 * whole.looks() * kLook});
  const auto compared = CompareSteps({graph, graph}, options, budget, executor);
  ASSERT_TRUE(compared.ok()) << compared.status();
  EXPECT_EQ(compared->quality, step::Quality::kReduced);
  EXPECT_LT(compared->samples, 640);
  EXPECT_GE(compared->samples, 32);
}

TEST(CompareSteps, NobodyWaitsForACancelledAnswer) {
  const StepGraph graph = BuildGraph(Profile());
  base::InlineExecutor executor;
  for (const auto samples :
       {std::optional<int64_t>(), std::optional<int64_t>(2000)}) {
    step::ScriptedBudget budget({.looks_until_cancelled = 20});
    const auto compared =
        CompareSteps({graph, graph}, {.samples = samples}, budget, executor);
    EXPECT_TRUE(absl::IsCancelled(compared.status())) << compared.status();
    EXPECT_LT(budget.looks(), 200);
  }
}

TEST(CompareSteps, AStepThatDoesNotVaryHasNoShares) {
  const StepGraph graph = BuildGraph(step::ConstantProfile(
      step::ScheduleKind::kOneForwardOneBackward, 2, 1, 4, 1, 2));
  const ComparedSteps compared = Compare({graph, graph}, {});
  EXPECT_EQ(VarianceShare(compared.steps[1], compared.steps[0]).value, 0);
}

}  // namespace
}  // namespace prism::explain
