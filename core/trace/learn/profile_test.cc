#include "core/trace/learn/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/learn/recorded_order.h"
#include "core/trace/learn/synthetic_trace.h"

namespace prism::trace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;

StepModel Learned(const SyntheticJob& job, uint64_t seed = 1) {
  auto model = LearnSteps(Observe(MakeTrace(job, seed)));
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

LearnedProfile Profile(const StepModel& model,
                       stats::FitFamily family = stats::FitFamily::kEmpirical) {
  auto learned = MakeProfile(model, family);
  EXPECT_TRUE(learned.ok()) << learned.status();
  return *std::move(learned);
}

SyntheticJob Job() {
  SyntheticJob job;
  job.replicas = 8;
  job.steps = 100;
  return job;
}

double Spread(const stats::Distribution& law) {
  return std::sqrt(law.Variance()) / law.Mean();
}

TEST(ProfileTest, SharesAndScalesAreThoseOfTheJob) {
  SyntheticJob job = Job();
  job.load_sd = 0.2;
  job.step_sd = 0.05;
  const step::StepProfile profile = Profile(Learned(job)).profile;
  EXPECT_EQ(profile.data, 8);
  EXPECT_EQ(profile.pipeline, 2);
  EXPECT_EQ(profile.microbatches, 6);
  EXPECT_EQ(profile.schedule, step::ScheduleKind::kOneForwardOneBackward);
  // The second stage takes 1.1 times the first.
  EXPECT_NEAR(profile.stage_scale[1] / profile.stage_scale[0], 1.1, 0.005);
  EXPECT_NEAR(
      profile.forward[0].compute.Mean() / profile.backward[0].compute.Mean(),
      0.5, 0.005);
  // From 4800 micro-batches and 100 steps: 3 standard errors of a deviation.
  EXPECT_NEAR(Spread(profile.microbatch_load), 0.2,
              0.2 * 3 / std::sqrt(9600) + 0.005);
  EXPECT_NEAR(Spread(profile.compute_regime), 0.05, 0.05 * 3 / std::sqrt(200));
  EXPECT_NEAR(Spread(profile.forward[0].compute), 0.02, 0.003);
  EXPECT_THAT(profile.slowdown, IsEmpty());
}

TEST(ProfileTest, ASlowRankIsASlowdown) {
  SyntheticJob job = Job();
  job.slow_factor = 1.5;
  job.slow_replica = 3;
  job.slow_stage = 1;
  const step::StepProfile profile = Profile(Learned(job)).profile;
  ASSERT_EQ(profile.slowdown.size(), 1);
  EXPECT_EQ(profile.slowdown[0].first, 3 * 2 + 1);
  EXPECT_NEAR(profile.slowdown[0].second, 1.5, 0.01);
}

TEST(ProfileTest, FollowsTheModelWhereTheJobIsOneItCanSay) {
  for (const double load : {0.0, 0.2}) {
    for (const double slow : {1.0, 1.5}) {
      SyntheticJob job = Job();
      job.load_sd = load;
      job.slow_factor = slow;
      const StepModel model = Learned(job);
      const auto check = CheckProfile(model, Profile(model).profile);
      ASSERT_TRUE(check.ok()) << check.status();
      EXPECT_NEAR(check->profile.mean / check->predicted.mean, 1, 0.01) << load;
      EXPECT_NEAR(check->profile.p95 / check->predicted.p95, 1, 0.02) << load;
    }
  }
}

// Undecided whether stalls and slow steps go together, the profile's one factor
// must give steps as long as those recorded, with the tail no likelier.
TEST(ProfileTest, FewStepsThatVaryAsAWholeKeepTheirTail) {
  SyntheticJob job = Job();
  job.steps = 20;
  job.step_sd = 0.05;
  const StepModel model = Learned(job);
  const LearnedProfile learned = Profile(model);
  EXPECT_TRUE(learned.profile.network_regime.IsConstant());
  const auto check = CheckProfile(model, learned.profile);
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_NEAR(check->profile.p95 / check->predicted.p95, 1, 0.01);
  EXPECT_NEAR(check->profile.mean / check->recorded.mean, 1, 0.01);
}

TEST(ProfileTest, EveryFamilyKeepsTheMeanStep) {
  SyntheticJob job = Job();
  job.load_sd = 0.2;
  const StepModel model = Learned(job);
  for (const stats::FitFamily family : stats::FitFamilies()) {
    // An exponential tail is no normal one; its maximum over replicas shows.
    if (family == stats::FitFamily::kShiftedExponential) continue;
    const LearnedProfile learned = Profile(model, family);
    const auto check = CheckProfile(model, learned.profile);
    ASSERT_TRUE(check.ok()) << check.status();
    EXPECT_NEAR(check->profile.mean / check->predicted.mean, 1, 0.03)
        << stats::FitFamilyName(family);
    for (const ProfileFit& fit : learned.fits)
      EXPECT_THAT(fit.distance, AllOf(Ge(0), Le(1)));
  }
}

TEST(RecordedOrderTest, SchedulesWithoutANameAreCustom) {
  const Observations observed = Observe(MakeTrace({.replicas = 1}, 1));
  step::PipelineOrder order = *RecordedOrder(observed, 6);
  step::StepProfile profile;
  profile.pipeline = 2;
  profile.microbatches = 6;
  SetSchedule(order, profile);
  EXPECT_EQ(profile.schedule, step::ScheduleKind::kOneForwardOneBackward);
  EXPECT_THAT(profile.order, IsEmpty());
  // One more forward ahead is no schedule with a name.
  std::swap(order.operations[0][1], order.operations[0][2]);
  ASSERT_TRUE(step::Validate(order).ok());
  SetSchedule(order, profile);
  EXPECT_EQ(profile.schedule, step::ScheduleKind::kCustom);
  EXPECT_EQ(profile.order, order.operations);
}

}  // namespace
}  // namespace prism::trace
