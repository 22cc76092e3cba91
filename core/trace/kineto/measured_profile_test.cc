#include "core/trace/kineto/measured_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/trace/kineto/test_support.h"

namespace prism::kineto {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kMsNs = 1'000'000;

// One rank's step in ms: forward kernels and exposed communication, backward
// kernels and idle time and exposed communication, optimizer.
struct StepTimes {
  double forward = 0, forward_exposed = 0;
  double backward = 0, backward_idle = 0, backward_exposed = 0;
  double optimizer = 0;
};

StepBreakdown Breakdown(const StepTimes& times) {
  const auto ns = [](double ms) { return std::llround(ms * kMsNs); };
  StepBreakdown step;
  step.phases[0].compute_ns = ns(times.forward);
  step.phases[0].exposed_communication_ns = ns(times.forward_exposed);
  step.phases[1].compute_ns = ns(times.backward);
  step.phases[1].idle_ns = ns(times.backward_idle);
  step.phases[1].exposed_communication_ns = ns(times.backward_exposed);
  step.phases[2].compute_ns = ns(times.optimizer);
  return step;
}

// Steps of all ranks, by step and rank.
JoinedTrace Joined(const std::vector<std::vector<StepTimes>>& steps) {
  JoinedTrace joined;
  joined.traces.resize(steps[0].size());
  for (const auto& ranks : steps) {
    JoinedStep step;
    for (const StepTimes& times : ranks) {
      step.by_trace.push_back(Breakdown(times));
      step.duration_ns =
          std::max(step.duration_ns, step.by_trace.back().sum().total_ns());
    }
    joined.steps.push_back(step);
  }
  return joined;
}

double Samples(const stats::Distribution& law) {
  const auto* empirical = std::get_if<stats::Empirical>(&law.kind());
  return empirical == nullptr
             ? 1
             : static_cast<double>(empirical->sorted_samples->size());
}

TEST(MeasuredProfileTest, HasTheStepOfASingleRecord) {
  const JoinedTrace joined = Joined({{{10, 3, 20, 5, 7, 2}}});
  const MeasuredProfile measured = MakeProfile(joined);
  EXPECT_THAT(measured.forward_names, ElementsAre("forward kernels"));
  EXPECT_THAT(measured.backward_names,
              ElementsAre("backward kernels", "backward idle"));
  const step::StepProfile& profile = measured.profile;
  EXPECT_EQ(profile.data, 1);
  EXPECT_DOUBLE_EQ(profile.forward[0].compute.Mean(), 10);
  EXPECT_DOUBLE_EQ(profile.forward[0].collective.Mean(), 3);
  EXPECT_EQ(profile.forward[0].sync, step::Sync::kData);
  EXPECT_DOUBLE_EQ(profile.gradient_sync.Mean(), 7);
  EXPECT_DOUBLE_EQ(profile.optimizer.Mean(), 2);
  const auto check = CheckProfile(measured, joined);
  ASSERT_TRUE(check.ok());
  EXPECT_NEAR(check->predicted_mean_seconds, 0.047, 1e-9);
  EXPECT_NEAR(check->relative_error(), 0, 1e-6);
}

TEST(MeasuredProfileTest, GivesTheRecordedStepsWhereFewWereRecorded) {
  // The exposed part shrinks as the rest grows: drawn apart, the spread of the
  // sum would be wrong.
  const JoinedTrace joined = Joined(
      {{{10, 0, 20, 0, 9, 1}}, {{12, 0, 24, 0, 3, 1}}, {{11, 0, 22, 0, 6, 1}}});
  const MeasuredProfile measured = MakeProfile(joined);
  EXPECT_FALSE(measured.parts_are_independent);
  EXPECT_EQ(Samples(measured.profile.compute_regime), 3);
  EXPECT_TRUE(measured.profile.gradient_sync.IsConstant());
  const auto check = CheckProfile(measured, joined);
  ASSERT_TRUE(check.ok());
  EXPECT_NEAR(check->predicted_mean_seconds, 0.040, 1e-5);
  EXPECT_NEAR(check->predicted_p95_seconds, 0.040, 1e-5);
}

std::vector<std::vector<StepTimes>> RandomSteps(int count, bool together) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(0, 1);
  std::vector<std::vector<StepTimes>> steps;
  for (int i = 0; i < count; ++i) {
    const double a = normal(random), b = together ? a : normal(random);
    steps.push_back({{100 + 3 * a, 0, 200 + 3 * b, 0, 0, 10}});
  }
  return steps;
}

TEST(MeasuredProfileTest, DrawsPartsApartWhereTheyVaryIndependently) {
  const JoinedTrace joined = Joined(RandomSteps(40, false));
  const MeasuredProfile measured = MakeProfile(joined);
  EXPECT_TRUE(measured.parts_are_independent);
  EXPECT_EQ(Samples(measured.profile.forward[0].compute), 40);
  EXPECT_EQ(Samples(measured.profile.backward[0].compute), 40);
  EXPECT_TRUE(measured.profile.compute_regime.IsConstant());
}

TEST(MeasuredProfileTest, DrawsOneFactorWherePartsVaryTogether) {
  const JoinedTrace joined = Joined(RandomSteps(40, true));
  const MeasuredProfile measured = MakeProfile(joined);
  EXPECT_FALSE(measured.parts_are_independent);
  EXPECT_EQ(Samples(measured.profile.compute_regime), 40);
  EXPECT_TRUE(measured.profile.forward[0].compute.IsConstant());
  const auto check = CheckProfile(measured, joined);
  ASSERT_TRUE(check.ok());
  EXPECT_NEAR(check->relative_error(), 0, 0.001);
}

TEST(MeasuredProfileTest, KeepsRanksApart) {
  // Rank 1 is always slower by a tenth; rank 0 waits for it.
  std::vector<std::vector<StepTimes>> steps;
  for (const double f : {1.0, 1.1, 0.9, 1.05})
    steps.push_back({{100 * f, 0, 200 * f, 0, 5 + 30 * f, 10 * f},
                     {110 * f, 0, 220 * f, 0, 5, 11 * f}});
  const JoinedTrace joined = Joined(steps);
  const MeasuredProfile measured = MakeProfile(joined);
  EXPECT_EQ(measured.profile.data, 2);
  ASSERT_THAT(measured.profile.slowdown, SizeIs(2));
  EXPECT_NEAR(
      measured.profile.slowdown[1].second / measured.profile.slowdown[0].second,
      1.1, 1e-9);
  EXPECT_EQ(Samples(measured.profile.compute_regime), 4);
  const auto check = CheckProfile(measured, joined);
  ASSERT_TRUE(check.ok());
  EXPECT_NEAR(check->relative_error(), 0, 0.002);
}

TEST(MeasuredProfileTest, HasARankWithoutABackward) {
  const MeasuredProfile measured = MakeProfile(Joined({{{10}}}));
  ASSERT_THAT(measured.profile.backward, SizeIs(1));
  EXPECT_DOUBLE_EQ(measured.profile.backward[0].compute.Mean(), 0);
}

}  // namespace
}  // namespace prism::kineto
