// Communication beside computation in profiles, against sums done by hand and
// against what must hold whatever the numbers.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/step/random_profile.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

stats::Distribution Ms(double value) {
  return stats::Distribution::MakeConstant(value);
}

// One rank, whose forward runs `layers` times `compute_ms`; no backward.
StepProfile Layers(int64_t layers, double compute_ms) {
  StepProfile profile;
  profile.forward = {ComputeSegment(Ms(compute_ms), Sync::kNone, layers)};
  profile.backward = {ComputeSegment(Ms(0))};
  return profile;
}

double StepMs(const StepProfile& profile) {
  return 1e3 * ConstantSeconds(BuildGraph(profile));
}

NominalStep Nominal(const StepProfile& profile) {
  auto nominal = SimulateNominal(BuildGraph(profile));
  EXPECT_TRUE(nominal.ok()) << nominal.status();
  return nominal.ok() ? *nominal : NominalStep{};
}

TEST(GatherTest, WithoutPrefetchNothingHidesIt) {
  StepProfile profile = Layers(4, 3);
  profile.forward[0].gather = Ms(2);
  EXPECT_DOUBLE_EQ(StepMs(profile), 4 * (2 + 3));
}

TEST(GatherTest, WithoutPrefetchIsTheBarrierOfSyncData) {
  StepProfile gathers = Layers(4, 3);
  gathers.data = 3;
  gathers.slowdown = {{1, 1.5}};
  StepProfile barriers = gathers;
  gathers.forward[0].gather = Ms(2);
  // The first barrier comes before the first layer, the last is left out.
  barriers.forward.insert(barriers.forward.begin(),
                          ComputeSegment(Ms(0), Sync::kData));
  barriers.forward[0].collective = Ms(2);
  barriers.forward[1] = ComputeSegment(Ms(3), Sync::kData, 3);
  barriers.forward[1].collective = Ms(2);
  barriers.forward.push_back(ComputeSegment(Ms(3)));
  EXPECT_DOUBLE_EQ(StepMs(gathers), StepMs(barriers));
}

TEST(GatherTest, ShorterThanTheLayerBeforeIsHiddenButForTheFirst) {
  StepProfile profile = Layers(4, 3);
  profile.forward[0].gather = Ms(2);
  profile.prefetch = 1;
  EXPECT_DOUBLE_EQ(StepMs(profile), 2 + 4 * 3);
}

TEST(GatherTest, LongerThanTheLayerBeforeHidesTheLayers) {
  StepProfile profile = Layers(4, 3);
  profile.forward[0].gather = Ms(5);
  profile.prefetch = 1;
  EXPECT_DOUBLE_EQ(StepMs(profile), 4 * 5 + 3);
}

// A long layer, then three short ones: two gathers ahead hide behind the long
// one, one only with the first of them.
TEST(GatherTest, DepthSaysHowManyHideBehindALongLayer) {
  StepProfile profile = Layers(1, 10);
  profile.forward.push_back(ComputeSegment(Ms(1), Sync::kNone, 3));
  for (auto& segment : profile.forward) segment.gather = Ms(4);
  // Gathers 0-4, 4-8; layer 4-14; gathers 14-18, 18-22; layers 14, 18, 22-23.
  profile.prefetch = 1;
  EXPECT_DOUBLE_EQ(StepMs(profile), 23);
  // Gathers 0-4, 4-8, 8-12; layer 4-14; gather 14-18; layers 14, 15, 18-19.
  profile.prefetch = 2;
  EXPECT_DOUBLE_EQ(StepMs(profile), 19);
  // All gathered by 16.
  profile.prefetch = 3;
  EXPECT_DOUBLE_EQ(StepMs(profile), 17);
}

// The run between belongs to the layer before: while it runs, the gather does.
TEST(GatherTest, RunsWithoutGatherCountToTheLayerBefore) {
  StepProfile profile = Layers(1, 1);
  profile.forward.push_back(ComputeSegment(Ms(3)));
  profile.forward.push_back(ComputeSegment(Ms(1)));
  profile.forward[0].gather = profile.forward[2].gather = Ms(2);
  EXPECT_DOUBLE_EQ(StepMs(profile), 2 + 1 + 3 + 2 + 1);
  profile.prefetch = 1;
  EXPECT_DOUBLE_EQ(StepMs(profile), 2 + 1 + 3 + 1);
}

TEST(GatherTest, StartsWithTheLastMember) {
  StepProfile profile = Layers(2, 1);
  profile.data = 2;
  profile.slowdown = {{1, 6}};
  profile.forward[0].gather = Ms(2);
  profile.prefetch = 1;
  // Both gathered by 4; the fast rank computes 2-3, 4-5, the slow one 2-8-14.
  EXPECT_DOUBLE_EQ(StepMs(profile), 14);
  profile.prefetch = 0;
  EXPECT_DOUBLE_EQ(StepMs(profile), 2 + 6 + 2 + 6);
}

TEST(GatherTest, EveryOperationGathersForItself) {
  StepProfile profile = Layers(3, 3);
  profile.forward[0].gather = Ms(2);
  profile.prefetch = 2;
  profile.microbatches = 4;
  EXPECT_DOUBLE_EQ(StepMs(profile), 4 * (2 + 3 * 3));
  profile.gather_once = true;
  EXPECT_DOUBLE_EQ(StepMs(profile), 2 + 4 * 3 * 3);
}

TEST(ScatterTest, ShorterThanALayerIsHiddenButForTheLast) {
  StepProfile profile = Layers(4, 3);
  profile.forward[0].scatter = Ms(2);
  EXPECT_DOUBLE_EQ(StepMs(profile), 4 * 3 + 2);
}

TEST(ScatterTest, LongerThanALayerQueues) {
  StepProfile profile = Layers(4, 3);
  profile.forward[0].scatter = Ms(5);
  EXPECT_DOUBLE_EQ(StepMs(profile), 3 + 4 * 5);
}

TEST(ScatterTest, ClosingWaitsForIt) {
  StepProfile profile = Layers(1, 3);
  profile.forward[0].scatter = Ms(5);
  profile.gradient_sync = Ms(7);
  profile.optimizer = Ms(1);
  EXPECT_DOUBLE_EQ(StepMs(profile), 3 + 5 + 7 + 1);
}

TEST(ScatterTest, OnceAStepRunsBehindTheLastMicrobatch) {
  StepProfile profile = Layers(2, 3);
  profile.forward[0].scatter = Ms(5);
  profile.microbatches = 3;
  EXPECT_DOUBLE_EQ(StepMs(profile), 3 + 6 * 5);
  profile.scatter_once = true;
  EXPECT_DOUBLE_EQ(StepMs(profile), 5 * 3 + 2 * 5);
}

// Stage 0 ends its two backwards at 2 (F + B) + F + B; its scatters end 5 after
// that. Stage 1, done F + B before, has scattered by then.
TEST(ScatterTest, StagesScatterWhenTheyAreDone) {
  StepProfile profile =
      ConstantProfile(ScheduleKind::kOneForwardOneBackward, 2, 1, 2, 1, 2);
  profile.backward[0].scatter = Ms(5);
  profile.scatter_once = true;
  EXPECT_DOUBLE_EQ(StepMs(profile), (2 + 1) * (1 + 2) + 5);
}

// Gathers 0-1, 1-2; layer 1-3; scatter 3-6; gather 6-7; layer 3-5; scatter
// 7-10; layer 7-9; scatter 10-13.
TEST(DataStreamTest, GathersAndScattersRunInTheOrderOfTheirIssue) {
  StepProfile profile = Layers(3, 2);
  profile.forward[0].gather = Ms(1);
  profile.forward[0].scatter = Ms(3);
  profile.prefetch = 1;
  EXPECT_DOUBLE_EQ(StepMs(profile), 13);
}

// Scatters 1-3, 3-5, 5-7, reductions 3-7, 7-11, 11-15.
TEST(ReduceTest, FollowsItsScatterOnAStreamOfItsOwn) {
  StepProfile profile = Layers(3, 1);
  profile.forward[0].scatter = Ms(2);
  profile.forward[0].reduce = Ms(4);
  EXPECT_DOUBLE_EQ(StepMs(profile), 15);
}

// Four replicas, two a shard; replica 3 is slow. Its own shard scatters at 4,
// the other at 1; reductions between copies 0, 2 and 1, 3.
TEST(ReduceTest, ShardsScatterApartAndCopiesReduceTogether) {
  StepProfile profile = Layers(1, 1);
  profile.data = 4;
  profile.shard = 2;
  profile.slowdown = {{3, 4}};
  profile.forward[0].scatter = Ms(2);
  EXPECT_DOUBLE_EQ(StepMs(profile), 4 + 2);
  profile.forward[0].reduce = Ms(3);
  EXPECT_DOUBLE_EQ(StepMs(profile), 4 + 2 + 3);
  // With shards of one rank only copies meet: 1 and 3 would have been apart.
  profile.shard = 1;
  EXPECT_DOUBLE_EQ(StepMs(profile), 4 + 2 + 3);
}

// Gathers 0-1, 1-2; layer 1-2; with one gather ahead the scatter comes next,
// 2-3, and its reduction 3-33; with two the long gather does, 2-12, and they
// run 12-13 and 13-43.
TEST(ReduceTest, WaitsBehindGathersThatRunFurtherAhead) {
  StepProfile profile = Layers(1, 1);
  profile.forward.push_back(ComputeSegment(Ms(1)));
  profile.forward.push_back(ComputeSegment(Ms(1)));
  profile.forward[0].gather = profile.forward[1].gather = Ms(1);
  profile.forward[2].gather = Ms(10);
  profile.forward[0].scatter = Ms(1);
  profile.forward[0].reduce = Ms(30);
  profile.prefetch = 1;
  EXPECT_DOUBLE_EQ(StepMs(profile), 33);
  profile.prefetch = 2;
  EXPECT_DOUBLE_EQ(StepMs(profile), 43);
}

// Fast shard: gathers 0-2 and 2-4, layers 2-3 and 4-5. Slow one: 2-6, 6-10.
TEST(ShardTest, GroupsDoNotWaitForEachOther) {
  StepProfile profile = Layers(2, 1);
  profile.data = 4;
  profile.shard = 2;
  profile.slowdown = {{3, 4}};
  profile.forward[0].gather = Ms(2);
  profile.prefetch = 1;
  EXPECT_DOUBLE_EQ(StepMs(profile), 10);
}

// Runs compute 0-3, 3-6, 7-10 (the first's collective ends at 7), collectives
// 3-7, 7-11 and 11-15.
TEST(OverlapTest, NextRunComputesBesideTheCollective) {
  StepProfile profile = Layers(3, 3);
  profile.forward[0].collective = Ms(4);
  EXPECT_DOUBLE_EQ(StepMs(profile), 3 * (3 + 4));
  profile.forward[0].overlap = true;
  EXPECT_DOUBLE_EQ(StepMs(profile), 15);
}

TEST(OverlapTest, HidesWhatIsShorterThanTheNextRun) {
  StepProfile profile = Layers(3, 3);
  profile.forward[0].collective = Ms(2);
  profile.forward[0].overlap = true;
  EXPECT_DOUBLE_EQ(StepMs(profile), 3 * 3 + 2);
}

// Only the middle run's collective overlaps: 1+2, 1, 1 beside 2, 2 after both.
TEST(OverlapTest, OtherCollectivesWaitForTheirTurn) {
  StepProfile profile = Layers(1, 1);
  profile.forward.push_back(ComputeSegment(Ms(1)));
  profile.forward.push_back(ComputeSegment(Ms(1)));
  for (auto& segment : profile.forward) segment.collective = Ms(2);
  profile.forward[1].overlap = true;
  EXPECT_DOUBLE_EQ(StepMs(profile), (1 + 2) + 1 + 2 + 2);
}

TEST(SlowdownTest, ActsOnlyWhileCommunicationRuns) {
  // The gather of the second layer runs for the first 1.5 of the first.
  StepProfile profile = Layers(2, 3);
  profile.forward[0].gather = Ms(1.5);
  profile.prefetch = 1;
  profile.overlap_slowdown = 1.25;
  EXPECT_DOUBLE_EQ(StepMs(profile), 1.5 + (1.5 + (3 - 1.5 / 1.25)) + 3);
}

TEST(SlowdownTest, ActsOnTheWholeOfAHiddenLayer) {
  StepProfile profile = Layers(2, 3);
  profile.forward[0].gather = Ms(10);
  profile.prefetch = 1;
  profile.overlap_slowdown = 1.5;
  // Layer 10-14.5 beside the gather 10-20.
  EXPECT_DOUBLE_EQ(StepMs(profile), 10 + 10 + 3);
}

TEST(SlowdownTest, ReachesIntoTheNextOperation) {
  StepProfile profile = Layers(1, 3);
  profile.backward[0].compute = Ms(4);
  profile.forward[0].scatter = Ms(2);
  profile.overlap_slowdown = 2;
  // Beside the scatter 3-5 only 1 of the 4 is done.
  EXPECT_DOUBLE_EQ(StepMs(profile), 3 + 2 + 3);
}

// Scatters run 1-3 and 3-5, reductions 3-8 and 8-13: without a break.
TEST(SlowdownTest, StreamsTogetherSlowNoMoreThanOne) {
  StepProfile profile = Layers(2, 1);
  profile.forward.push_back(ComputeSegment(Ms(10)));
  profile.forward[0].scatter = Ms(2);
  profile.forward[0].reduce = Ms(5);
  profile.overlap_slowdown = 2;
  // The second layer 1-3; then 5 of the 10 until 13.
  EXPECT_DOUBLE_EQ(StepMs(profile), 3 + 10 + 5);
}

TEST(SlowdownTest, WaitingForAMemberSlowsNobody) {
  StepProfile profile = Layers(1, 1);
  profile.forward.push_back(ComputeSegment(Ms(4)));
  profile.data = 2;
  profile.forward[0].scatter = Ms(1);
  profile.overlap_slowdown = 2;
  profile.slowdown = {{1, 3}};
  // The slow rank: 0-3, then scatters 3-4, 12 of work from 3 on. The fast one
  // waits for it from 1 and is done with 4 of work by 5.5.
  EXPECT_DOUBLE_EQ(StepMs(profile), 3 + 1 + 11.5);
}

TEST(BreakdownTest, SaysWhatIsExposedAndWhatRan) {
  StepProfile profile = Layers(4, 3);
  profile.forward[0].gather = Ms(2);
  profile.forward[0].scatter = Ms(1);
  profile.prefetch = 1;
  // The first gather, the last scatter.
  NominalStep step = Nominal(profile);
  EXPECT_NEAR(step.by_kind["data_communication"], 3e-3, 1e-15);
  EXPECT_NEAR(step.busy_by_kind["data_communication"], 12e-3, 1e-15);
  EXPECT_NEAR(step.by_kind["compute"], 12e-3, 1e-15);
  EXPECT_NEAR(step.by_kind["bubble"], 0, 1e-15);
}

TEST(BreakdownTest, OverlappedCollectivesAreExposedAtTheEnd) {
  StepProfile profile = Layers(3, 3);
  profile.forward[0].collective = Ms(4);
  profile.forward[0].overlap = true;
  NominalStep step = Nominal(profile);
  EXPECT_NEAR(step.by_kind["tensor_communication"], 6e-3, 1e-15);
  EXPECT_NEAR(step.busy_by_kind["tensor_communication"], 12e-3, 1e-15);
  EXPECT_NEAR(step.by_kind["compute"], 9e-3, 1e-15);
}

class StreamPropertyTest : public testing::TestWithParam<uint64_t> {
 protected:
  StepProfile profile_ = RandomStreamProfile(GetParam());

  std::vector<std::vector<ProfileSegment>*> Phases() {
    return {&profile_.forward, &profile_.backward, &profile_.backward_input,
            &profile_.backward_weight};
  }
};

TEST_P(StreamPropertyTest, TimeIsSpentOnce) {
  const NominalStep step = Nominal(profile_);
  double sum = 0;
  for (const auto& [kind, seconds] : step.by_kind) {
    EXPECT_GE(seconds, 0) << kind;
    sum += seconds;
  }
  EXPECT_NEAR(sum, step.seconds, 1e-12 * step.seconds);
}

// Where nothing but the closing waits for what queues behind the gathers, and
// nothing is slowed by what runs beside it.
TEST_P(StreamPropertyTest, PrefetchingNeverMakesAStepLonger) {
  profile_.overlap_slowdown = 1;
  for (auto* segments : Phases()) {
    for (auto& segment : *segments) {
      segment.reduce = {};
      if (segment.sync == Sync::kData) segment.sync = Sync::kTensor;
    }
  }
  double nominal_before = 1e9;
  StepTime before;
  for (int prefetch = 0; prefetch < 6; ++prefetch) {
    profile_.prefetch = prefetch;
    const double nominal = Nominal(profile_).seconds;
    EXPECT_LE(nominal, nominal_before * (1 + 1e-12)) << prefetch;
    nominal_before = nominal;
    // Equal draws for every depth, so this holds sample by sample.
    const StepTime time = SimulateSamples(BuildGraph(profile_), 100);
    for (size_t i = 0; prefetch > 0 && i < kQuantileLevels.size(); ++i) {
      EXPECT_LE(time.quantile_seconds[i],
                before.quantile_seconds[i] * (1 + 1e-12));
    }
    before = time;
  }
}

// Replicas that are alike have nothing to wait for but the network.
TEST_P(StreamPropertyTest, InfinitelyFastNetworkLeavesTheComputation) {
  profile_.slowdown.clear();
  profile_.transfer = profile_.gradient_sync = Ms(0);
  for (auto* segments : Phases()) {
    for (auto& segment : *segments) {
      segment.collective = Ms(0);
      if (segment.gather) segment.gather = Ms(0);
      if (segment.scatter) segment.scatter = Ms(0);
      if (segment.reduce) segment.reduce = Ms(0);
    }
  }
  const double seconds = Nominal(profile_).seconds;
  for (auto* segments : Phases()) {
    for (auto& segment : *segments) {
      segment.gather = segment.scatter = segment.reduce = {};
      segment.overlap = false;
    }
  }
  EXPECT_NEAR(seconds, Nominal(profile_).seconds, 1e-12 * seconds);
}

TEST_P(StreamPropertyTest, InfinitelyFastComputationLeavesTheDataStream) {
  profile_.pipeline = profile_.virtual_stages = 1;
  profile_.schedule = ScheduleKind::kOneForwardOneBackward;
  profile_.order.clear();
  profile_.stage_of.clear();
  profile_.stage_scale.clear();
  profile_.slowdown.clear();
  profile_.gather_once = profile_.scatter_once = false;
  profile_.compute_regime = profile_.network_regime = Ms(1);
  profile_.optimizer = profile_.gradient_sync = Ms(0);
  double expected = 0;
  for (auto* segments : Phases()) {
    for (auto& segment : *segments) {
      segment.compute = segment.collective = Ms(0);
      segment.reduce = {};
      const auto count = static_cast<double>(segment.count);
      for (const auto& law : {segment.gather, segment.scatter}) {
        if (law) expected += count * profile_.microbatches * law->StatedMean();
      }
    }
  }
  EXPECT_NEAR(1e3 * Nominal(profile_).seconds, expected, 1e-12 * expected);
}

INSTANTIATE_TEST_SUITE_P(RandomProfiles, StreamPropertyTest,
                         testing::Range<uint64_t>(0, 100));

}  // namespace
}  // namespace prism::step
