#include "core/placement/local_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/placement/bound.h"
#include "core/placement/evaluator.h"
#include "core/placement/starts.h"
#include "core/placement/test_support.h"

namespace prism::placement {
namespace {

constexpr int kDrawRows = 2;
constexpr double kMuchWork = 1e9;

double MeanOf(JobModel& model, const NodeList& nodes) {
  Evaluator evaluator(model, kDrawRows);
  const auto evaluated = evaluator.Evaluate({&nodes, 1}, model.measured(),
                                            base::UnlimitedBudget());
  EXPECT_TRUE(evaluated.ok());
  return (*evaluated)[0].step.mean;
}

SearchResult Improved(JobModel& model, const Pools& pools,
                      const NodeList& start, double work) {
  const auto result = Improve(model, pools, pools.pools()[0], start,
                              {.seed = 1, .work = work, .window = 0.01},
                              base::UnlimitedBudget());
  EXPECT_TRUE(result.ok());
  return *result;
}

TEST(LocalSearchTest, NeverMakesThingsWorse) {
  hardware::Cluster cluster = TestCluster(24, 4, 4);
  SetSpeeds(0.05, 3, cluster);
  const auto model =
      TestModel(TestJob({.tensor = 4, .pipeline = 4, .data = 4}), cluster);
  const Pools pools(*model, {}, {}, 0);
  for (uint32_t i = 0; i < 5; ++i) {
    const NodeList start =
        RandomPlacement(*model, pools, pools.pools()[0], 1, i);
    const SearchResult result = Improved(*model, pools, start, kMuchWork);
    EXPECT_TRUE(result.complete);
    EXPECT_GT(result.evaluated, 0);
    EXPECT_LT(MeanOf(*model, result.nodes), MeanOf(*model, start)) << i;
  }
}

TEST(LocalSearchTest, ExchangesSlowNodesForFreeOnes) {
  hardware::Cluster cluster = FlatCluster(6, 4);
  SetSpeeds(0.1, 3, cluster);
  const auto model = TestModel(TestJob({.tensor = 4, .data = 4}), cluster);
  const Pools pools(*model, {}, {}, 0);
  const auto& fastest = pools.pools()[0].nodes;
  const NodeList start(fastest.end() - 4, fastest.end());
  NodeList found = Improved(*model, pools, start, kMuchWork).nodes;
  double slowest = 0;
  for (const int64_t node : found) {
    slowest = std::max(slowest, pools.FactorOf(node));
  }
  EXPECT_EQ(slowest, pools.FactorOf(fastest[3]));
}

// Equal nodes, scattered over leaves: only communication can be better.
TEST(LocalSearchTest, GathersDataGroupsInALeaf) {
  const hardware::Cluster cluster = TestCluster(8, 4, 4);
  const auto model = TestModel(TestJob({.tensor = 4, .data = 4}), cluster);
  const std::vector<int64_t> free = {0, 1, 2, 3, 4};
  const Pools pools(*model, free, {}, 0);
  const NodeList found = Improved(*model, pools, {0, 1, 2, 4}, kMuchWork).nodes;
  for (const int64_t node : found) EXPECT_EQ(node / 4, 0);
}

TEST(LocalSearchTest, KeepsBlocksTogether) {
  hardware::Cluster cluster = TestCluster(16, 4, 4);
  SetSpeeds(0.05, 8, cluster);
  const auto model =
      TestModel(TestJob({.tensor = 4, .pipeline = 2, .data = 4}), cluster);
  Constraints constraints;
  constraints.segment_nodes = 4;
  const Pools pools(*model, {}, constraints, 0);
  const NodeList start = RandomPlacement(*model, pools, pools.pools()[0], 3, 0);
  EXPECT_TRUE(pools.Obeys(Improved(*model, pools, start, kMuchWork).nodes));
}

TEST(LocalSearchTest, EndsWithItsWork) {
  hardware::Cluster cluster = TestCluster(24, 4, 4);
  SetSpeeds(0.05, 3, cluster);
  const auto model =
      TestModel(TestJob({.tensor = 4, .pipeline = 4, .data = 4}), cluster);
  const Pools pools(*model, {}, {}, 0);
  const NodeList start = RandomPlacement(*model, pools, pools.pools()[0], 1, 0);
  EXPECT_FALSE(Improved(*model, pools, start, 1).complete);
}

// No random placement is below the bound; where all nodes are alike and lie
// together it is reached.
TEST(BoundTest, NothingIsBelow) {
  hardware::Cluster cluster = TestCluster(24, 4, 8);
  const auto job = TestJob({.tensor = 4, .pipeline = 2, .data = 4});
  std::mt19937_64 random(4);
  for (const double spread : {0.0, 0.02, 0.1}) {
    SetSpeeds(spread, 3, cluster);
    const auto model = TestModel(job, cluster);
    const Pools pools(*model, {}, {}, 0);
    Evaluator evaluator(*model, kDrawRows);
    const auto deviation = evaluator.ReplicaDeviation();
    ASSERT_TRUE(deviation.ok());
    const auto bound =
        LowestMean(*model, pools, pools.pools()[0], kDrawRows, *deviation);
    ASSERT_TRUE(bound.ok());
    double least = 1e9;
    for (int i = 0; i < 200; ++i) {
      least = std::min(least, MeanOf(*model, RandomNodes(cluster, 8, random)));
    }
    const NodeList together = {0, 1, 2, 3, 4, 5, 6, 7};
    least = std::min(least, MeanOf(*model, together));
    EXPECT_LE(*bound, least * (1 + 1e-9)) << spread;
    if (spread == 0) {
      EXPECT_NEAR(*bound, least, 1e-6 * least);
    }
  }
}

}  // namespace
}  // namespace prism::placement
