#include "core/placement/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/estimate/variation.h"
#include "core/placement/exhaustive.h"
#include "core/placement/starts.h"
#include "core/placement/test_support.h"

namespace prism::placement {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Twelve nodes in leaves of four; node i has factor 1 + i / 100.
hardware::Cluster TwelveNodes() {
  hardware::Cluster cluster = TestCluster(12, 4, 4);
  for (int64_t node = 0; node < 12; ++node) {
    hardware::NodeState state;
    state.node = node;
    state.slowdown = 1 + 0.01 * static_cast<double>(node);
    cluster.node_states.push_back(state);
  }
  return cluster;
}

workload::Job JobOfNodes(int64_t count) {
  return TestJob({.tensor = 4, .data = count});
}

TEST(FabricUnitsTest, KnowsLevelsOutsideNodes) {
  const FabricUnits units(TestCluster(10, 4, 4));
  ASSERT_EQ(units.levels(), 1);
  EXPECT_EQ(units.UnitCount(0), 3);
  EXPECT_EQ(units.LargestUnit(0), 4);
  EXPECT_TRUE(units.LieTogether(0, 3));
  EXPECT_FALSE(units.LieTogether(3, 4));
  EXPECT_EQ(units.LevelOf(1), 0);
  EXPECT_EQ(units.LevelOf(0), -1);
  EXPECT_EQ(FabricUnits(FlatCluster(4, 4)).levels(), 0);
}

TEST(FabricUnitsTest, TakesListedUnits) {
  hardware::Cluster cluster = TestCluster(6, 4, 2);
  cluster.fabric[1].unit_of_node = {7, 7, 3, 3, 7, 3};
  const FabricUnits units(cluster);
  EXPECT_EQ(units.UnitCount(0), 2);
  EXPECT_TRUE(units.LieTogether(0, 4));
  EXPECT_FALSE(units.LieTogether(0, 5));
}

TEST(PoolTest, TheFastestComeFirst) {
  const hardware::Cluster cluster = TwelveNodes();
  const auto model = TestModel(JobOfNodes(2), cluster);
  const std::vector<int64_t> free = {9, 3, 5, 3};
  const Pools pools(*model, free, {}, 0);
  ASSERT_EQ(pools.pools().size(), 1u);
  EXPECT_THAT(pools.pools()[0].nodes, ElementsAre(3, 5, 9));
  EXPECT_THAT(pools.given(), ElementsAre(9, 3, 5));
}

TEST(PoolTest, NodesNobodyMeasuredAreAsSlowAsIsAssumed) {
  hardware::Cluster cluster = TwelveNodes();
  cluster.node_states.resize(11);
  const auto model = TestModel(JobOfNodes(2), cluster);
  const Pools pools(*model, {}, {}, 0);
  EXPECT_EQ(pools.FactorOf(11),
            estimate::SlowestFactor(8, estimate::Variation{}));
}

TEST(PoolTest, CautionCountsDoubt) {
  hardware::Cluster cluster = TwelveNodes();
  cluster.node_states[0].measured_slowdown =
      stats::Distribution::MakeLognormal(1, 0.1);
  const auto model = TestModel(JobOfNodes(2), cluster);
  EXPECT_NEAR(Pools(*model, {}, {}, 2).FactorOf(0), 1.2, 1e-9);
  EXPECT_EQ(Pools(*model, {}, {}, 0).FactorOf(0), 1);
}

TEST(PoolTest, WithinGivesOnePoolAUnit) {
  const hardware::Cluster cluster = TwelveNodes();
  const auto model = TestModel(JobOfNodes(3), cluster);
  Constraints constraints;
  constraints.within = "leaf";
  constraints.exclude = {4, 5};
  const Pools pools(*model, {}, constraints, 0);
  ASSERT_EQ(pools.pools().size(), 2u);  // the second leaf has two left
  EXPECT_THAT(pools.pools()[0].nodes, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(pools.pools()[1].nodes, ElementsAre(8, 9, 10, 11));
}

TEST(PoolTest, WithinANodeFitsOneNodeAlone) {
  const hardware::Cluster cluster = TwelveNodes();
  Constraints constraints;
  constraints.within = "node";
  const auto one = TestModel(JobOfNodes(1), cluster);
  EXPECT_FALSE(Pools(*one, {}, constraints, 0).pools().empty());
  const auto two = TestModel(JobOfNodes(2), cluster);
  const Pools none(*two, {}, constraints, 0);
  EXPECT_TRUE(none.pools().empty());
  EXPECT_THAT(none.reason(), HasSubstr("within one unit of node"));
}

TEST(PoolTest, BlocksNeedUnitsThatHoldThem) {
  const hardware::Cluster cluster = TwelveNodes();
  const auto model = TestModel(JobOfNodes(6), cluster);
  Constraints constraints;
  constraints.segment_nodes = 3;
  constraints.exclude = {0, 1};  // the first leaf cannot hold a block
  const Pools pools(*model, {}, constraints, 0);
  ASSERT_EQ(pools.pools().size(), 1u);
  EXPECT_THAT(pools.pools()[0].nodes, Not(Contains(2)));
  EXPECT_TRUE(pools.Obeys(NodeList{4, 5, 6, 8, 9, 10}));
  EXPECT_FALSE(pools.Obeys(NodeList{4, 5, 8, 6, 9, 10}));
  constraints.exclude = {0, 1, 4, 5};
  EXPECT_THAT(Pools(*model, {}, constraints, 0).reason(),
              HasSubstr("in blocks of 3"));
}

TEST(PoolTest, SparesAreTheFastestLeft) {
  const hardware::Cluster cluster = TwelveNodes();
  const auto model = TestModel(JobOfNodes(2), cluster);
  Constraints constraints;
  constraints.spares = 2;
  const Pools pools(*model, {}, constraints, 0);
  EXPECT_THAT(pools.Spares(NodeList{0, 2}), ElementsAre(1, 3));
}

TEST(StartsTest, StartsArePlacementsFromThePool) {
  hardware::Cluster cluster = TestCluster(40, 4, 8);
  SetSpeeds(0.05, 4, cluster);
  const auto model =
      TestModel(TestJob({.tensor = 4, .pipeline = 4, .data = 4}), cluster);
  for (const int64_t segment : {0, 4}) {
    Constraints constraints;
    constraints.segment_nodes = segment;
    const Pools pools(*model, {}, constraints, 0);
    const Pool& pool = pools.pools()[0];
    std::vector<NodeList> starts = StartPlacements(*model, pools, pool);
    EXPECT_GE(starts.size(), segment == 0 ? 10u : 1u);
    for (uint32_t i = 0; i < 5; ++i) {
      starts.push_back(RandomPlacement(*model, pools, pool, 1, i));
    }
    starts.push_back(PoorPlacement(*model, pools, pool));
    for (const NodeList& start : starts) {
      NodeList sorted = start;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(start.size(), 16u);
      EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end());
      EXPECT_TRUE(pools.Obeys(start));
    }
  }
}

TEST(StartsTest, RandomPlacementsRepeatByNumber) {
  const hardware::Cluster cluster = TwelveNodes();
  const auto model = TestModel(JobOfNodes(4), cluster);
  const Pools pools(*model, {}, {}, 0);
  const Pool& pool = pools.pools()[0];
  EXPECT_EQ(RandomPlacement(*model, pools, pool, 1, 2),
            RandomPlacement(*model, pools, pool, 1, 2));
  EXPECT_NE(RandomPlacement(*model, pools, pool, 1, 2),
            RandomPlacement(*model, pools, pool, 1, 3));
  EXPECT_NE(RandomPlacement(*model, pools, pool, 1, 2),
            RandomPlacement(*model, pools, pool, 2, 2));
}

// 4 of 5 nodes in order: 120; two stages of two replicas: the second replica
// may stand for itself alone, so nothing is left out. With three replicas the
// second and third are interchangeable.
TEST(ExhaustiveTest, LeavesOutWhatTheJobCannotTellApart) {
  const hardware::Cluster cluster = TestCluster(5, 4, 5);
  auto count = [&](const workload::Job& job) {
    const auto model = TestModel(job, cluster);
    const Pools pools(*model, {}, {}, 0);
    int visited = 0;
    ForEachPlacement(*model, pools, pools.pools()[0], [&](const NodeList&) {
      ++visited;
      return true;
    });
    return visited;
  };
  EXPECT_EQ(count(TestJob({.tensor = 4, .pipeline = 2, .data = 2})), 120);
  EXPECT_EQ(count(TestJob({.tensor = 4, .data = 3})), 60 / 2);
  EXPECT_EQ(count(TestJob({.tensor = 4, .pipeline = 3})), 60);
  // Two replicas share a node: no symmetry is assumed.
  EXPECT_EQ(count(TestJob({.tensor = 2, .data = 6})), 60);
}

TEST(ExhaustiveTest, StopsWhenAsked) {
  const hardware::Cluster cluster = TestCluster(5, 4, 5);
  const auto model = TestModel(JobOfNodes(3), cluster);
  const Pools pools(*model, {}, {}, 0);
  int visited = 0;
  ForEachPlacement(*model, pools, pools.pools()[0],
                   [&](const NodeList&) { return ++visited < 7; });
  EXPECT_EQ(visited, 7);
  EXPECT_EQ(PlacementCount(*model, pools.pools()[0]), 60);
}

TEST(ExhaustiveTest, CountsOnlyAsFarAsItMatters) {
  const hardware::Cluster cluster = TestCluster(200, 4, 5);
  const auto model = TestModel(JobOfNodes(150), cluster);
  const Pools pools(*model, {}, {}, 0);
  EXPECT_EQ(PlacementCount(*model, pools.pools()[0]), kMostEnumerated + 1);
}

}  // namespace
}  // namespace prism::placement
