#include "core/step/step_profile.h"

#include <gtest/gtest.h>

#include "core/step/random_profile.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

using stats::Distribution;

TEST(BuildGraphTest, GraphsOfRandomProfilesAreValid) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto status = BuildGraph(RandomProfile(seed)).Validate();
    EXPECT_TRUE(status.ok()) << seed << ": " << status;
  }
}

// A step of one micro-batch on one rank, all of whose parts differ.
StepProfile PartsProfile() {
  StepProfile profile;
  profile.forward = {{Distribution::MakeConstant(1),
                      Distribution::MakeConstant(10), Sync::kTensor, 2}};
  profile.backward = {{Distribution::MakeConstant(100),
                       Distribution::MakeConstant(1000), Sync::kNone, 1}};
  profile.gradient_sync = Distribution::MakeConstant(1e4);
  profile.optimizer = Distribution::MakeConstant(1e5);
  return profile;
}

double Ms(const StepProfile& profile) {
  return ConstantSeconds(BuildGraph(profile)) * 1e3;
}

TEST(BuildGraphTest, EveryPartIsChargedAlsoOnOneRank) {
  EXPECT_NEAR(Ms(PartsProfile()), 111122, 1e-6);
}

TEST(BuildGraphTest, MillisecondsBecomeSeconds) {
  EXPECT_NEAR(ConstantSeconds(BuildGraph(PartsProfile())), 111.122, 1e-9);
}

TEST(BuildGraphTest, ComputeRegimeMultipliesComputeAndOptimizer) {
  StepProfile profile = PartsProfile();
  profile.compute_regime = Distribution::MakeConstant(2);
  EXPECT_NEAR(Ms(profile), 111122 + 2 + 100 + 1e5, 1e-6);
}

TEST(BuildGraphTest, NetworkRegimeMultipliesCollectivesAndGradientSync) {
  StepProfile profile = PartsProfile();
  profile.network_regime = Distribution::MakeConstant(2);
  EXPECT_NEAR(Ms(profile), 111122 + 20 + 1000 + 1e4, 1e-6);
}

TEST(BuildGraphTest, MicrobatchLoadMultipliesComputeAlone) {
  StepProfile profile = PartsProfile();
  profile.microbatch_load = Distribution::MakeConstant(3);
  EXPECT_NEAR(Ms(profile), 111122 + 2 * (2 + 100), 1e-6);
}

TEST(BuildGraphTest, StageScaleMultipliesComputeAlone) {
  StepProfile profile = PartsProfile();
  profile.stage_scale = {3};
  EXPECT_NEAR(Ms(profile), 111122 + 2 * (2 + 100), 1e-6);
}

TEST(BuildGraphTest, SlowdownMultipliesComputeAndOptimizer) {
  StepProfile profile = PartsProfile();
  profile.slowdown = {{0, 3}};
  EXPECT_NEAR(Ms(profile), 111122 + 2 * (2 + 100 + 1e5), 1e-6);
}

TEST(BuildGraphTest, TransferIsChargedOncePerHopEachWay) {
  StepProfile profile = ConstantProfile(ScheduleKind::kGpipe, 3, 1, 1, 1, 2);
  profile.transfer = Distribution::MakeConstant(10);
  EXPECT_NEAR(Ms(profile), 3 * 3 + 4 * 10, 1e-9);
}

// A backward on the last virtual stage waits for its own forward alone.
TEST(BuildGraphTest, NetworkRegimeMultipliesTransfers) {
  StepProfile profile = ConstantProfile(ScheduleKind::kGpipe, 2, 1, 1, 1, 2);
  profile.transfer = Distribution::MakeConstant(10);
  profile.network_regime = Distribution::MakeConstant(3);
  EXPECT_NEAR(Ms(profile), 2 * 3 + 2 * 30, 1e-9);
}

// rank = (replica * p + stage) * t + tensor: 5 of 2 x 2 x 2 is the second
// tensor rank of stage 0 in replica 1.
TEST(BuildGraphTest, SlowdownFindsItsRank) {
  StepProfile profile = ConstantProfile(ScheduleKind::kGpipe, 2, 1, 1, 1, 2);
  profile.data = profile.tensor = 2;
  profile.slowdown = {{5, 4}};
  const StepGraph graph = BuildGraph(profile);
  EXPECT_EQ(graph.slowdown, std::vector<double>({1, 1, 1, 1, 1, 4, 1, 1}));
}

// Without a barrier the slow rank's own neighbours do not wait for it: it
// alone is late, at both its operations.
TEST(BuildGraphTest, RanksOfDifferentIndexDoNotWaitWithoutSync) {
  StepProfile profile = ConstantProfile(ScheduleKind::kGpipe, 2, 1, 1, 1, 2);
  profile.tensor = 2;
  profile.slowdown = {{1, 2}, {2, 3}};
  // Lane 0: 1 + 3 * 3 + 2, lane 1: 2 + 3 + 4.
  EXPECT_NEAR(Ms(profile), 12, 1e-9);
  profile.forward[0].sync = Sync::kTensor;
  // Forwards 2 and 3, then lane 0: 6 + 2, lane 1: 2 + 4.
  EXPECT_NEAR(Ms(profile), 13, 1e-9);
}

TEST(BuildGraphTest, DataSyncMakesReplicasWaitInEveryOperation) {
  StepProfile profile = ConstantProfile(ScheduleKind::kGpipe, 1, 1, 2, 1, 2);
  profile.data = 2;
  // Each replica has a slow rank for one half of the work only through the
  // barrier: both are slow in turn where each micro-batch differs, and here
  // the slower of the two sets the pace.
  profile.slowdown = {{0, 2}, {1, 3}};
  EXPECT_NEAR(Ms(profile), 2 * 3 * 3, 1e-9);
  profile.forward[0].sync = Sync::kData;
  profile.forward[0].collective = Distribution::MakeConstant(0.5);
  EXPECT_NEAR(Ms(profile), 2 * 3 * 3 + 2 * 0.5, 1e-9);
}

}  // namespace
}  // namespace prism::step
