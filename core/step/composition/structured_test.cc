#include "core/step/composition/structured.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "core/step/random_profile.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

using stats::Distribution;

// What a training job looks like: alike replicas, noise, a little slowdown.
StepProfile Pipeline() {
  StepProfile profile =
      ConstantProfile(ScheduleKind::kOneForwardOneBackward, 4, 1, 8, 0, 0);
  profile.data = 16;
  profile.tensor = 4;
  profile.forward[0] = {Distribution::MakeNormal(3, 0.2),
                        Distribution::MakeLognormal(0.3, 0.3), Sync::kTensor,
                        4};
  profile.backward[0] = {Distribution::MakeGamma(6, 0.08),
                         Distribution::MakeLognormal(0.3, 0.3), Sync::kTensor,
                         4};
  profile.transfer = Distribution::MakeLognormal(0.5, 0.3);
  profile.gradient_sync = Distribution::MakeNormal(20, 1);
  profile.optimizer = Distribution::MakeNormal(5, 0.2);
  return profile;
}

StepProfile UnevenPipeline() {
  StepProfile profile = Pipeline();
  for (int64_t rank = 0; rank < profile.ranks(); ++rank) {
    profile.slowdown.push_back(
        {rank, 1 + 0.001 * static_cast<double>(rank * 7919 % 41)});
  }
  return profile;
}

StepProfile RegimePipeline() {
  StepProfile profile = Pipeline();
  profile.compute_regime = Distribution::MakeLognormal(1, 0.05);
  profile.network_regime = Distribution::MakeLognormal(1, 0.2);
  profile.microbatch_load = Distribution::MakeLognormal(1, 0.1);
  return profile;
}

absl::StatusOr<StepTime> Auto(const StepGraph& graph,
                              const base::Budget& budget,
                              std::optional<int64_t> samples = {},
                              uint64_t random_key = 1, int threads = 1) {
  base::ThreadExecutor executor(threads);
  return Simulate(graph, {.samples = samples, .random_key = random_key}, budget,
                  executor);
}

StepTime AutoTime(const StepProfile& profile,
                  std::optional<int64_t> samples = {}, uint64_t key = 1,
                  int threads = 1) {
  const auto time =
      Auto(BuildGraph(profile), base::UnlimitedBudget(), samples, key, threads);
  EXPECT_TRUE(time.ok()) << time.status();
  if (!time.ok()) return {};
  EXPECT_EQ(time->method, Method::kAuto);
  return *time;
}

void ExpectSameNumbers(const StepTime& a, const StepTime& b) {
  EXPECT_EQ(a.mean_seconds, b.mean_seconds);
  EXPECT_EQ(a.standard_deviation_seconds, b.standard_deviation_seconds);
  EXPECT_EQ(a.quantile_seconds, b.quantile_seconds);
  EXPECT_EQ(a.standard_error_seconds, b.standard_error_seconds);
  EXPECT_EQ(a.samples, b.samples);
}

TEST(Structured, ThreadsDoNotChangeABit) {
  for (const StepProfile& profile :
       {Pipeline(), UnevenPipeline(), RegimePipeline()}) {
    const StepTime one = AutoTime(profile);
    ExpectSameNumbers(one, AutoTime(profile, {}, 1, 2));
    ExpectSameNumbers(one, AutoTime(profile, {}, 1, 8));
    ExpectSameNumbers(one, AutoTime(profile));
  }
}

TEST(Structured, KeysGiveOtherDraws) {
  EXPECT_NE(AutoTime(Pipeline(), {}, 1).mean_seconds,
            AutoTime(Pipeline(), {}, 2).mean_seconds);
}

TEST(Structured, ConstantStepsAreExact) {
  for (const ScheduleKind schedule :
       {ScheduleKind::kGpipe, ScheduleKind::kOneForwardOneBackward}) {
    const StepProfile profile = ConstantProfile(schedule, 4, 1, 8, 3, 5);
    const StepTime time = AutoTime(profile);
    for (size_t i = 0; i < kQuantileLevels.size(); ++i) {
      EXPECT_NEAR(time.quantile_seconds[i], 11 * 8e-3, 1e-9);
      EXPECT_NEAR(time.standard_error_seconds[i], 0, 1e-9);
    }
  }
}

TEST(Structured, MoreSamplesLowerTheError) {
  const StepTime few = AutoTime(Pipeline(), 512);
  const StepTime many = AutoTime(Pipeline(), 8192);
  EXPECT_EQ(few.samples, 512);
  EXPECT_EQ(many.samples, 8192);
  EXPECT_LT(many.standard_error_seconds[3],
            0.7 * few.standard_error_seconds[3]);
}

TEST(Structured, CommonDrawsMakeDifferencesSure) {
  StepProfile slower = Pipeline();
  slower.stage_scale = {1, 1, 1, 1.01};
  const double own = AutoTime(Pipeline()).standard_error_seconds[3];
  double sum = 0, squares = 0;
  constexpr int kKeys = 12;
  for (uint64_t key = 0; key < kKeys; ++key) {
    const double off = AutoTime(slower, {}, key).quantile_seconds[3] -
                       AutoTime(Pipeline(), {}, key).quantile_seconds[3];
    sum += off / kKeys;
    squares += off * off / kKeys;
  }
  EXPECT_GT(sum, 0);
  EXPECT_LT(std::sqrt(squares - sum * sum), 0.7 * own);
}

// One operation that is now short, now long, and little beside it: no law that
// a few moments tell. Whichever method answers is near the reference.
TEST(Structured, TwoHumpsAreNotTakenForOne) {
  for (int unlike = 1; unlike < 29; ++unlike) {
    StepProfile profile;
    std::vector<double> samples;
    for (int i = 0; i < 29; ++i) {
      samples.push_back(i < unlike ? 220 + i : 26 + 0.1 * i);
    }
    profile.forward = {{Distribution::MakeNormal(50, 1), {}},
                       {Distribution::MakeEmpirical(std::move(samples)), {}}};
    profile.backward = {{Distribution::MakeNormal(80, 2), {}}};
    const StepGraph graph = BuildGraph(profile);
    const auto time = Auto(graph, base::UnlimitedBudget());
    base::InlineExecutor executor;
    const auto reference =
        Simulate(graph, {.method = Method::kMonteCarlo, .samples = 100000},
                 base::UnlimitedBudget(), executor);
    ASSERT_TRUE(time.ok() && reference.ok());
    const auto& quantiles = reference->quantile_seconds;
    for (size_t level = 1; level < quantiles.size(); ++level) {
      EXPECT_NEAR(time->quantile_seconds[level], quantiles[level],
                  0.05 * reference->standard_deviation_seconds +
                      5 * std::hypot(time->standard_error_seconds[level],
                                     reference->standard_error_seconds[level]))
          << unlike << " of 29, level " << level;
    }
  }
}

TEST(Structured, CancelledCallsEndAtOnce) {
  for (const int64_t looks : {0, 1, 5}) {
    const ScriptedBudget budget({.looks_until_cancelled = looks});
    const auto time = Auto(BuildGraph(UnevenPipeline()), budget, 1 << 20);
    EXPECT_EQ(time.status().code(), absl::StatusCode::kCancelled);
    // A few blocks on one thread, not thousands.
    EXPECT_LE(budget.looks(), looks + 8);
  }
}

// Wherever it is when the caller goes: among the kinds, the laws of the stages
// or the lanes of the closings. Each of the 16 replicas is a kind of 4 stages.
TEST(Structured, CancellationIsSeenEverywhere) {
  StepProfile profile = UnevenPipeline();
  profile.optimizer = Distribution::MakeGamma(5, 0.2);
  const StepGraph graph = BuildGraph(profile);
  const ScriptedBudget whole({});
  ASSERT_TRUE(Auto(graph, whole, 2000).ok());
  EXPECT_GT(whole.looks(), 64);
  // The last look finds an answer that is all but done.
  for (int64_t looks = 0; looks + 3 < whole.looks(); ++looks) {
    const ScriptedBudget budget({.looks_until_cancelled = looks});
    EXPECT_EQ(Auto(graph, budget, 2000).status().code(),
              absl::StatusCode::kCancelled);
    EXPECT_LE(budget.looks(), looks + 16) << looks;
  }
}

TEST(Structured, MoreSamplesThanAreKeptAreLeftToTheReference) {
  const StepGraph graph = BuildGraph(Pipeline());
  const ScriptedBudget budget(
      {.per_look = absl::Milliseconds(1), .deadline = absl::Milliseconds(500)});
  const auto time = Auto(graph, budget, int64_t{1} << 25);
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->method, Method::kMonteCarlo);
  EXPECT_EQ(time->quality, Quality::kReduced);
}

TEST(Structured, PassedDeadlineGivesNoAnswer) {
  const ScriptedBudget budget({.deadline = absl::ZeroDuration()});
  EXPECT_EQ(Auto(BuildGraph(Pipeline()), budget).status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST(Structured, TightDeadlineGivesAReducedAnswer) {
  const StepGraph graph = BuildGraph(Pipeline());
  const auto full = Auto(graph, base::UnlimitedBudget());
  // What was spent on the first samples is about all there is.
  const ScriptedBudget budget(
      {.per_look = absl::Milliseconds(1), .deadline = absl::Milliseconds(40)});
  const auto reduced = Auto(graph, budget);
  ASSERT_TRUE(full.ok() && reduced.ok()) << reduced.status();
  EXPECT_EQ(full->quality, Quality::kExact);
  EXPECT_EQ(reduced->quality, Quality::kReduced);
  EXPECT_LT(reduced->samples, full->samples);
  EXPECT_GT(reduced->standard_error_seconds[3],
            full->standard_error_seconds[3]);
}

TEST(Structured, DeadlineHoldsForAskedSamplesToo) {
  const ScriptedBudget budget(
      {.per_look = absl::Milliseconds(1), .deadline = absl::Milliseconds(40)});
  const auto time = Auto(BuildGraph(Pipeline()), budget, 1 << 16);
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(time->quality, Quality::kReduced);
  EXPECT_LT(time->samples, 1 << 15);
}

// What is outside the structure goes to the reference method, which says so.
class FallBackTest : public testing::Test {
 protected:
  static Method MethodFor(const StepGraph& graph) {
    const auto time = Auto(graph, base::UnlimitedBudget(), 200);
    EXPECT_TRUE(time.ok()) << time.status();
    return time.ok() ? time->method : Method::kAuto;
  }
  StepGraph graph_ = BuildGraph(Pipeline());
};

TEST_F(FallBackTest, NotWithoutReason) {
  EXPECT_EQ(MethodFor(graph_), Method::kAuto);
}

TEST_F(FallBackTest, PathFactors) {
  graph_.hop_factor.assign(3 * 16, 1.5);
  EXPECT_EQ(MethodFor(graph_), Method::kMonteCarlo);
}

TEST_F(FallBackTest, SeveralStreams) {
  graph_.streams = 2;
  Program& backward = graph_.programs[graph_.program_of[1][0]];
  Task& last = backward.segments[0].tasks.back();
  last.stream = 1;
  last.detached = true;
  EXPECT_EQ(MethodFor(graph_), Method::kMonteCarlo);
}

TEST_F(FallBackTest, FactorsOfReplicas) {
  graph_.shared_factors.push_back(
      {.distribution = Distribution::MakeLognormal(1, 0.1),
       .scope = FactorScope::kReplica,
       .applies_to = {true, false, false}});
  EXPECT_EQ(MethodFor(graph_), Method::kMonteCarlo);
}

TEST_F(FallBackTest, ComputeThatCanTakeNoTime) {
  StepProfile profile = Pipeline();
  profile.compute_regime = Distribution::MakeNormal(1, 0.5);
  EXPECT_EQ(MethodFor(BuildGraph(profile)), Method::kMonteCarlo);
}

TEST_F(FallBackTest, LanesThatEndFarApart) {
  StepProfile profile = Pipeline();
  profile.forward[0].sync = Sync::kNone;
  profile.backward[0].sync = Sync::kNone;
  EXPECT_EQ(MethodFor(BuildGraph(profile)), Method::kMonteCarlo);
}

}  // namespace
}  // namespace prism::step
