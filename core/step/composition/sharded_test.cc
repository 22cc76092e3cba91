#include "core/step/composition/sharded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "core/stats/normal.h"
#include "core/step/composition/sharded_barrier.h"
#include "core/step/monte_carlo.h"
#include "core/step/step_profile.h"

namespace prism::step {
namespace {

using stats::Distribution;

class CancelledBudget final : public base::Budget {
 public:
  bool Cancelled() const override { return true; }
  absl::Duration Elapsed() const override { return absl::ZeroDuration(); }
  absl::Duration Remaining() const override { return absl::ZeroDuration(); }
};

std::optional<absl::StatusOr<StepTime>> Answer(const StepProfile& profile,
                                               const base::Budget& budget,
                                               int threads = 1) {
  const StepGraph graph = BuildGraph(profile);
  const auto compiled = Compile(graph);
  EXPECT_TRUE(compiled.ok());
  base::ThreadExecutor executor(threads);
  SimulationOptions options;
  options.random_key = 5;
  return SimulateSharded(*compiled, options, budget, executor);
}

StepTime Sharded(const StepProfile& profile, int threads = 1) {
  auto time = Answer(profile, base::UnlimitedBudget(), threads);
  EXPECT_TRUE(time.has_value() && time->ok());
  return time.has_value() && time->ok() ? **time : StepTime();
}

StepTime Reference(const StepProfile& profile, int64_t samples) {
  const StepGraph graph = BuildGraph(profile);
  const auto compiled = Compile(graph);
  base::InlineExecutor executor;
  SimulationOptions options;
  options.random_key = 5;
  options.samples = samples;
  auto time =
      SimulateMonteCarlo(*compiled, options, base::UnlimitedBudget(), executor);
  EXPECT_TRUE(time.ok());
  return time.ok() ? *time : StepTime();
}

ProfileSegment Segment(Distribution compute, Distribution collective, Sync sync,
                       int64_t count) {
  return {std::move(compute), std::move(collective), sync, count};
}

// Forward and backward of barriers alone.
StepProfile Barriers(int replicas, int64_t count) {
  StepProfile profile;
  profile.data = replicas;
  profile.forward = {Segment(Distribution::MakeLognormal(10, 0.04),
                             Distribution::MakeGamma(2, 0.2), Sync::kData,
                             count)};
  profile.backward = {Segment(Distribution::MakeLognormal(20, 0.04),
                              Distribution::MakeGamma(4, 0.2), Sync::kData,
                              count)};
  return profile;
}

TEST(SimulateShardedTest, ConstantTimesAddUp) {
  StepProfile profile;
  profile.data = 3;
  profile.tensor = 2;
  profile.microbatches = 4;
  const auto ms = &Distribution::MakeConstant;
  profile.forward = {Segment(ms(1), ms(0.5), Sync::kTensor, 2),
                     Segment(ms(2), ms(0.25), Sync::kData, 3)};
  profile.backward = {Segment(ms(5), ms(1), Sync::kData, 1),
                      Segment(ms(1), ms(1), Sync::kNone, 1)};
  profile.gradient_sync = ms(3);
  profile.optimizer = ms(2);
  // Rank 4 is lane 0 of the last replica.
  profile.slowdown = {{4, 2.0}};
  // Forward: 2 (2 + 0.5) + 3 (4 + 0.25); backward: 11 + 3; closing: 3 + 4.
  const StepTime time = Sharded(profile);
  EXPECT_NEAR(time.quantile_seconds[0] * 1e3, 4 * (17.75 + 14) + 7, 1e-6);
  EXPECT_NEAR(time.quantile_seconds[6] * 1e3, 4 * (17.75 + 14) + 7, 1e-6);
}

// Lane 0 waits for a rank of twice, lane 1 for one of three times the length.
TEST(SimulateShardedTest, ConstantWorkOfUnlikeLanesIsToldApart) {
  StepProfile profile;
  profile.data = 2;
  profile.tensor = 2;
  profile.forward = {
      Segment(Distribution::MakeConstant(10), Distribution(), Sync::kData, 5)};
  profile.backward = {
      Segment(Distribution::MakeConstant(0), Distribution(), Sync::kData, 1)};
  profile.slowdown = {{0, 2.0}, {3, 3.0}};
  EXPECT_NEAR(Sharded(profile).quantile_seconds[3] * 1e3, 150, 1e-6);
}

// One barrier over n exponentials: P(T <= x) = (1 - exp(-x))^n.
TEST(SimulateShardedTest, OneBarrierHasThePowerOfItsLaw) {
  for (int n : {2, 100, 4096}) {
    StepProfile profile;
    profile.data = n;
    profile.forward = {Segment(Distribution::MakeShiftedExponential(0, 1),
                               Distribution(), Sync::kData, 1)};
    profile.backward = {
        Segment(Distribution::MakeConstant(0), Distribution(), Sync::kData, 1)};
    const StepTime time = Sharded(profile);
    for (size_t q = 0; q < kQuantileLevels.size(); ++q) {
      const double exact =
          -std::log(-std::expm1(std::log(kQuantileLevels[q]) / n));
      EXPECT_NEAR(time.quantile_seconds[q] * 1e3, exact, 0.02)
          << n << " at " << kQuantileLevels[q];
    }
  }
}

TEST(SimulateShardedTest, StallsOfOneInAHundredThousandAreSeen) {
  constexpr double kWeight = 1e-5;
  StepProfile profile = Barriers(1000, 4);
  profile.forward[0].compute = Distribution::MakeMixture(
      {{1 - kWeight, Distribution::MakeLognormal(10, 0.04)},
       {kWeight, Distribution::MakeConstant(1000)}});
  // Four barriers of a thousand: one step in 25 stalls.
  const StepTime time = Sharded(profile);
  EXPECT_LT(time.quantile_seconds[5], 1.0);
  EXPECT_GT(time.quantile_seconds[6], 1.0);
}

// The reference method is held to its own error and ours.
struct Case {
  std::string name;
  std::function<void(StepProfile&)> change;
};

class ShardedAgreementTest : public ::testing::TestWithParam<Case> {};

TEST_P(ShardedAgreementTest, QuantilesAreThoseOfTheReference) {
  StepProfile profile = Barriers(16, 6);
  profile.optimizer = Distribution::MakeLognormal(5, 0.1);
  GetParam().change(profile);
  const StepTime reference = Reference(profile, 20000);
  const StepTime time = Sharded(profile);
  const double quartiles =
      reference.quantile_seconds[4] - reference.quantile_seconds[2];
  for (size_t q = 1; q < kQuantileLevels.size(); ++q) {
    // Three deviations of the reference; of the laws, a thirtieth of the
    // distance between the quartiles is left to approximations.
    const double tolerance = 3 * reference.standard_error_seconds[q] +
                             time.standard_error_seconds[q] + quartiles / 30;
    EXPECT_NEAR(time.quantile_seconds[q], reference.quantile_seconds[q],
                tolerance)
        << kQuantileLevels[q];
  }
}

INSTANTIATE_TEST_SUITE_P(
    Profiles, ShardedAgreementTest,
    ::testing::Values(
        Case{"Plain", [](StepProfile&) {}},
        Case{"Lanes", [](StepProfile& p) { p.tensor = 3; }},
        Case{"Meetings",
             [](StepProfile& p) {
               p.tensor = 3;
               p.microbatches = 2;
               p.forward.insert(
                   p.forward.begin(),
                   Segment(Distribution::MakeLognormal(6, 0.1),
                           Distribution::MakeGamma(1, 0.5), Sync::kTensor, 3));
             }},
        Case{"Slowdowns",
             [](StepProfile& p) {
               p.tensor = 2;
               p.slowdown = {{3, 1.05}, {10, 1.02}, {31, 1.08}};
             }},
        Case{"SlowMeetings",
             [](StepProfile& p) {
               p.tensor = 2;
               p.slowdown = {{3, 1.05}, {10, 1.02}, {31, 1.08}};
               p.backward.insert(
                   p.backward.begin(),
                   Segment(Distribution::MakeLognormal(6, 0.1),
                           Distribution::MakeGamma(1, 0.2), Sync::kTensor, 2));
             }},
        Case{"OwnCollectives",
             [](StepProfile& p) {
               p.forward.insert(
                   p.forward.begin(),
                   Segment(Distribution::MakeGamma(3, 0.4),
                           Distribution::MakeGamma(3, 0.3), Sync::kNone, 2));
               p.network_regime = Distribution::MakeLognormal(1, 0.2);
             }},
        Case{"Regimes",
             [](StepProfile& p) {
               p.compute_regime = Distribution::MakeLognormal(1, 0.02);
               p.network_regime = Distribution::MakeLognormal(1, 0.2);
             }},
        Case{"Loads",
             [](StepProfile& p) {
               p.microbatches = 2;
               p.microbatch_load = Distribution::MakeLognormal(1, 0.1);
             }},
        Case{"SlightLoads",
             [](StepProfile& p) {
               p.microbatch_load = Distribution::MakeLognormal(1, 0.01);
             }},
        Case{"SlowLoads",
             [](StepProfile& p) {
               p.tensor = 2;
               p.slowdown = {{3, 1.05}, {10, 1.02}, {31, 1.08}};
               p.microbatch_load = Distribution::MakeLognormal(1, 0.05);
             }},
        Case{"Heavy",
             [](StepProfile& p) {
               p.forward[0].compute = Distribution::MakeLognormal(10, 0.5);
             }},
        Case{"Samples",
             [](StepProfile& p) {
               p.forward[0].compute = Distribution::MakeEmpirical(
                   {9, 9.5, 10, 10.2, 10.4, 11, 14});
               p.forward[0].count = 3;
             }}),
    [](const auto& instance) { return instance.param.name; });

TEST(SimulateShardedTest, ThreadsDoNotChangeTheBits) {
  StepProfile profile = Barriers(32, 4);
  profile.tensor = 2;
  profile.microbatch_load = Distribution::MakeLognormal(1, 0.1);
  const StepTime one = Sharded(profile, 1);
  const StepTime three = Sharded(profile, 3);
  EXPECT_EQ(one.quantile_seconds, three.quantile_seconds);
  EXPECT_EQ(one.standard_error_seconds, three.standard_error_seconds);
}

TEST(SimulateShardedTest, StopsWhenCancelled) {
  const auto time = Answer(Barriers(32, 4), CancelledBudget());
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->status().code(), absl::StatusCode::kCancelled);
}

TEST(SimulateShardedTest, LeavesOtherStepsToOtherMethods) {
  StepProfile profile = Barriers(32, 4);
  for (auto* segments : {&profile.forward, &profile.backward}) {
    (*segments)[0].sync = Sync::kTensor;
  }
  EXPECT_FALSE(Answer(profile, base::UnlimitedBudget()).has_value());
}

TEST(CorrelationOfMaximaTest, IsThatOfThePairForOnePair) {
  EXPECT_DOUBLE_EQ(CorrelationOfMaxima(1, 0.4), 0.4);
}

// Against 20,000 draws of 16 pairs: the correlation of the scores has a
// deviation of less than 1 / sqrt(20000).
TEST(CorrelationOfMaximaTest, IsThatOfSimulatedPairs) {
  constexpr int kDraws = 20000, kPairs = 16;
  constexpr double kRho = 0.7;
  std::mt19937_64 generator(1);
  std::normal_distribution<double> normal;
  double product = 0;
  for (int i = 0; i < kDraws; ++i) {
    double first = -10, second = -10;
    for (int pair = 0; pair < kPairs; ++pair) {
      const double a = normal(generator);
      const double b =
          kRho * a + std::sqrt(1 - kRho * kRho) * normal(generator);
      first = std::max(first, a);
      second = std::max(second, b);
    }
    auto score = [](double x) {
      return stats::NormalQuantile(std::pow(stats::NormalCdf(x), kPairs));
    };
    product += score(first) * score(second);
  }
  EXPECT_NEAR(CorrelationOfMaxima(kPairs, kRho), product / kDraws, 0.025);
}

// Maxima of many pairs become independent, slowly.
TEST(CorrelationOfMaximaTest, FallsWithTheNumberOfPairs) {
  double last = 0.7;
  for (double count : {2.0, 16.0, 256.0, 4096.0}) {
    const double correlation = CorrelationOfMaxima(count, 0.7);
    EXPECT_LT(correlation, last) << count;
    EXPECT_GT(correlation, 0) << count;
    last = correlation;
  }
}

}  // namespace
}  // namespace prism::step
