#include "core/step/monte_carlo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/step/random_profile.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

using stats::Distribution;

constexpr int kMedian = 3;
constexpr int kP95 = 5;

// One rank whose step is a lognormal of mean 2.
StepGraph NoisyGraph(double cv) {
  StepProfile profile = ConstantProfile(ScheduleKind::kGpipe, 1, 1, 1, 0, 0);
  profile.forward[0].compute = Distribution::MakeLognormal(2, cv);
  return BuildGraph(profile);
}

// One block of it is some seconds of work.
StepGraph LongGraph() {
  StepProfile profile =
      ConstantProfile(ScheduleKind::kOneForwardOneBackward, 32, 1, 512, 0, 0);
  profile.forward[0] = {Distribution::MakeGamma(1, 1),
                        Distribution::MakeGamma(1, 1), Sync::kTensor, 10};
  profile.tensor = 4;
  return BuildGraph(profile);
}

absl::StatusOr<StepTime> SimulateWithin(const StepGraph& graph,
                                        std::optional<int64_t> samples,
                                        const base::Budget& budget) {
  base::InlineExecutor executor;
  return Simulate(graph, {.method = Method::kMonteCarlo, .samples = samples},
                  budget, executor);
}

void ExpectSameNumbers(const StepTime& a, const StepTime& b) {
  EXPECT_EQ(a.mean_seconds, b.mean_seconds);
  EXPECT_EQ(a.standard_deviation_seconds, b.standard_deviation_seconds);
  EXPECT_EQ(a.quantile_seconds, b.quantile_seconds);
  EXPECT_EQ(a.standard_error_seconds, b.standard_error_seconds);
  EXPECT_EQ(a.samples, b.samples);
}

// Communication of each layer on a stream of its own, detached.
StepGraph StreamGraph() {
  StepGraph graph = BuildGraph(RandomProfile(1));
  graph.streams = 2;
  Task& last = graph.programs[kBackwardProgram].segments[0].tasks[1];
  last.stream = 1;
  last.detached = true;
  return graph;
}

class DeterminismTest : public testing::TestWithParam<int> {};

// A number of samples that no block divides.
constexpr int64_t kOddSamples = 3001;

TEST_P(DeterminismTest, ThreadsDoNotChangeABit) {
  const StepGraph graph =
      GetParam() < 0 ? StreamGraph() : BuildGraph(RandomProfile(GetParam()));
  const StepTime one = SimulateSamples(graph, kOddSamples, 5, 1);
  ExpectSameNumbers(one, SimulateSamples(graph, kOddSamples, 5, 2));
  ExpectSameNumbers(one, SimulateSamples(graph, kOddSamples, 5, 8));
}

TEST_P(DeterminismTest, RunsRepeat) {
  const StepGraph graph = BuildGraph(RandomProfile(std::abs(GetParam())));
  ExpectSameNumbers(SimulateSamples(graph, kOddSamples, 5),
                    SimulateSamples(graph, kOddSamples, 5));
}

TEST_P(DeterminismTest, KeysGiveOtherDraws) {
  const StepGraph graph = BuildGraph(RandomProfile(std::abs(GetParam())));
  EXPECT_NE(SimulateSamples(graph, kOddSamples, 5).mean_seconds,
            SimulateSamples(graph, kOddSamples, 6).mean_seconds);
}

// 4, 8 and 12 run on one stage, some with barriers of the data group.
INSTANTIATE_TEST_SUITE_P(Graphs, DeterminismTest,
                         testing::Values(-1, 0, 1, 2, 3, 4, 8, 12));

TEST(OpenEndedTest, ThreadsDoNotChangeABit) {
  const StepGraph graph = NoisyGraph(0.1);
  base::ThreadExecutor one(1), eight(8);
  SimulationOptions options;
  options.method = Method::kMonteCarlo;
  const auto a = Simulate(graph, options, base::UnlimitedBudget(), one);
  const auto b = Simulate(graph, options, base::UnlimitedBudget(), eight);
  ASSERT_TRUE(a.ok() && b.ok());
  ExpectSameNumbers(*a, *b);
}

// Common random numbers: each sample gets no shorter, so no quantile does.
TEST(CommonRandomNumbersTest, SlowerRankShortensNoQuantile) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    StepProfile profile = RandomProfile(seed);
    profile.slowdown.clear();
    const StepTime before = SimulateSamples(BuildGraph(profile), 500);
    profile.slowdown = {{static_cast<int64_t>(seed) % profile.ranks(), 1.5}};
    const StepTime after = SimulateSamples(BuildGraph(profile), 500);
    for (size_t i = 0; i < kQuantileLevels.size(); ++i) {
      EXPECT_GE(after.quantile_seconds[i],
                before.quantile_seconds[i] * (1 - 1e-14));
    }
    EXPECT_GE(after.mean_seconds, before.mean_seconds * (1 - 1e-14));
  }
}

TEST(CommonRandomNumbersTest, SlowdownOfOneChangesNothing) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    StepProfile profile = RandomProfile(seed);
    profile.slowdown.clear();
    const StepTime before = SimulateSamples(BuildGraph(profile), 200);
    profile.slowdown = {{0, 1.0}};
    const StepTime after = SimulateSamples(BuildGraph(profile), 200);
    for (size_t i = 0; i < kQuantileLevels.size(); ++i) {
      EXPECT_NEAR(after.quantile_seconds[i], before.quantile_seconds[i],
                  1e-13 * before.quantile_seconds[i]);
    }
  }
}

// Replica 0 always ends last, so what replica 1 does is seen by nobody.
TEST(CommonRandomNumbersTest, SlowdownLeavesTheDrawsOfOtherRanks) {
  StepProfile profile = ConstantProfile(ScheduleKind::kGpipe, 2, 1, 4, 0, 0);
  profile.data = 2;
  profile.forward[0].compute = Distribution::MakeGamma(1, 0.3);
  profile.backward[0].compute = Distribution::MakeGamma(2, 0.3);
  profile.slowdown = {{0, 100}, {1, 100}};
  const StepTime before = SimulateSamples(BuildGraph(profile), 500);
  profile.slowdown = {{0, 100}, {1, 100}, {2, 1.7}, {3, 0.3}};
  ExpectSameNumbers(before, SimulateSamples(BuildGraph(profile), 500));
}

TEST(BudgetTest, CancelledBeforeItBegins) {
  ScriptedBudget budget({.looks_until_cancelled = 0});
  EXPECT_EQ(SimulateWithin(NoisyGraph(1), 1000000, budget).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_LE(budget.looks(), 10);
}

// A look comes after every 100,000 draws or so: within one block.
TEST(BudgetTest, CancelledWithinABlock) {
  ScriptedBudget budget({.looks_until_cancelled = 30});
  EXPECT_EQ(SimulateWithin(LongGraph(), 100, budget).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_LE(budget.looks(), 40);
}

TEST(BudgetTest, DeadlineWithinTheFirstBlock) {
  ScriptedBudget budget(
      {.per_look = absl::Milliseconds(1), .deadline = absl::Milliseconds(30)});
  EXPECT_EQ(SimulateWithin(LongGraph(), 100, budget).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_LE(budget.looks(), 40);
}

TEST(BudgetTest, DeadlineLaterGivesTheSamplesDoneSoFar) {
  const StepGraph graph = NoisyGraph(0.5);
  ScriptedBudget budget(
      {.per_look = absl::Milliseconds(1), .deadline = absl::Milliseconds(30)});
  const auto time = SimulateWithin(graph, 1000000, budget);
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->quality, Quality::kReduced);
  EXPECT_GE(time->samples, 100);
  EXPECT_LT(time->samples, 1000000);
  ExpectSameNumbers(*time, SimulateSamples(graph, time->samples, 0));
}

TEST(BudgetTest, FixedSamplesKnowNoPatience) {
  ScriptedBudget budget({.per_look = absl::Hours(1)});
  const auto time = SimulateWithin(NoisyGraph(1), 5000, budget);
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->samples, 5000);
  EXPECT_EQ(time->quality, Quality::kExact);
}

TEST(OpenEndedTest, StopsWhenTheErrorsAreSmall) {
  const auto time =
      SimulateWithin(NoisyGraph(0.3), std::nullopt, base::UnlimitedBudget());
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->quality, Quality::kExact);
  EXPECT_LE(time->standard_error_seconds[kMedian],
            0.001 * time->quantile_seconds[kMedian]);
  EXPECT_LE(time->standard_error_seconds[kP95],
            0.003 * time->quantile_seconds[kP95]);
  // sqrt(pi / 2) sigma / sqrt(S) = 0.001 at S = 135,000; at most 1.25 times
  // as many and a tenth more.
  EXPECT_GT(time->samples, 100000);
  EXPECT_LT(time->samples, 250000);
}

TEST(OpenEndedTest, StopsAfterOneRoundWithoutNoise) {
  const auto time =
      SimulateWithin(NoisyGraph(0), std::nullopt, base::UnlimitedBudget());
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_LE(time->samples, 2048);
  EXPECT_EQ(time->quantile_seconds[kMedian], 2e-3);
}

TEST(OpenEndedTest, StopsWhenPatienceEnds) {
  ScriptedBudget budget({.per_look = absl::Milliseconds(100)});
  const auto time = SimulateWithin(NoisyGraph(3), std::nullopt, budget);
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->quality, Quality::kReduced);
  EXPECT_GE(time->samples, 100);
  EXPECT_LE(budget.looks(), 200);
}

// Without a deadline there is no reason to give no answer at all.
TEST(OpenEndedTest, PatienceThatEndsAtOnceStillGivesAHundredSamples) {
  StepProfile profile = ConstantProfile(ScheduleKind::kGpipe, 1, 1, 1, 0, 0);
  profile.forward[0].compute = Distribution::MakeGamma(1, 3);
  profile.data = 2048;  // a block is one sample
  ScriptedBudget budget({.per_look = absl::Seconds(11)});
  const auto time = SimulateWithin(BuildGraph(profile), std::nullopt, budget);
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->quality, Quality::kReduced);
  EXPECT_EQ(time->samples, 100);
}

TEST(RefusalTest, StepThatNeedsTooMuchMemory) {
  StepProfile profile = ConstantProfile(ScheduleKind::kGpipe, 256, 1, 1, 1, 1);
  profile.tensor = 65536;
  EXPECT_EQ(SimulateWithin(BuildGraph(profile), 100, base::UnlimitedBudget())
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(RefusalTest, ResultThatIsNotFinite) {
  StepGraph graph = NoisyGraph(0.5);
  graph.stage_scale = {1e308};
  graph.slowdown = {1e308};
  EXPECT_EQ(SimulateWithin(graph, 100, base::UnlimitedBudget()).status().code(),
            absl::StatusCode::kInternal);
}

TEST(RefusalTest, OrdersThatDeadlock) {
  StepGraph graph = EmptyGraph({1, 2, 1}, 2);
  constexpr auto F = Phase::kForward, B = Phase::kBackward;
  graph.order[0] = {{F, 0, 0}, {B, 0, 0}, {F, 0, 1}, {B, 0, 1}};
  graph.order[1] = {{F, 1, 0}, {F, 1, 1}, {B, 1, 0}, {B, 1, 1}};
  EXPECT_EQ(SimulateWithin(graph, 100, base::UnlimitedBudget()).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(SimulateNominal(graph).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace prism::step
