#include "core/estimate/rank_slowdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prism::estimate {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kTolerance = 1e-12;

// `nodes` nodes of 2 GPUs.
hardware::Cluster ClusterOf(int64_t nodes,
                            std::vector<hardware::NodeState> states) {
  hardware::Cluster cluster;
  cluster.nodes = nodes;
  cluster.gpus_per_node = 2;
  cluster.node_states = std::move(states);
  return cluster;
}

// Factors of a job of `data` replicas of 2 GPUs, over nominal compute: with
// what the graph assumes.
std::vector<double> OverNominal(int64_t data, const hardware::Cluster& cluster,
                                const Placement& placement = {}) {
  workload::Parallelism parallelism;
  parallelism.tensor = 2;
  parallelism.data = data;
  const RankMap ranks(parallelism, cluster, placement);
  std::vector<double> factors =
      RankSlowdowns(ranks, MeasuredSlowdowns(cluster), Variation{});
  for (double& factor : factors) factor *= SlowestFactor(2 * data, Variation{});
  return factors;
}

auto Near(double value) { return ::testing::DoubleNear(value, kTolerance); }

TEST(RankSlowdownTest, NothingWhereNobodyMeasured) {
  EXPECT_THAT(OverNominal(2, ClusterOf(2, {})), IsEmpty());
  EXPECT_THAT(
      OverNominal(2, ClusterOf(2, {{.node = 1,
                                    .health = hardware::Health::kDegraded}})),
      IsEmpty());
}

TEST(RankSlowdownTest, NothingWhereOnlyNodesOfOthersWereMeasured) {
  EXPECT_THAT(OverNominal(2, ClusterOf(3, {{.node = 2, .slowdown = 2}})),
              IsEmpty());
}

TEST(RankSlowdownTest, MeasuredNodesAreWhatTheyWereMeasuredToBe) {
  const auto cluster = ClusterOf(
      2, {{.node = 0, .slowdown = 1.25}, {.node = 1, .slowdown = 0.97}});
  EXPECT_THAT(OverNominal(2, cluster),
              ElementsAre(Near(1.25), Near(1.25), Near(0.97), Near(0.97)));
}

TEST(RankSlowdownTest, AverageNodesTakeThePriorOut) {
  const auto cluster =
      ClusterOf(2, {{.node = 0, .slowdown = 1}, {.node = 1, .slowdown = 1}});
  EXPECT_THAT(OverNominal(2, cluster), Each(Near(1)));
}

TEST(RankSlowdownTest, OthersAreAsSlowAsTheSlowestOfThem) {
  const auto cluster = ClusterOf(4, {{.node = 1, .slowdown = 1.5}});
  const double prior = SlowestFactor(6, Variation{});
  EXPECT_LT(prior, SlowestFactor(8, Variation{}));
  EXPECT_THAT(OverNominal(4, cluster),
              ElementsAre(Near(prior), Near(prior), Near(1.5), Near(1.5),
                          Near(prior), Near(prior), Near(prior), Near(prior)));
}

TEST(RankSlowdownTest, FactorsFollowThePlacement) {
  const auto cluster =
      ClusterOf(3, {{.node = 0, .slowdown = 1}, {.node = 2, .slowdown = 1.5}});
  EXPECT_THAT(OverNominal(2, cluster, {.nodes = {2, 0}}),
              ElementsAre(Near(1.5), Near(1.5), Near(1), Near(1)));
}

// The rest of a node that the job uses in part is not its GPUs.
TEST(RankSlowdownTest, OnlyTheJobsOwnGpusCount) {
  auto cluster = ClusterOf(2, {{.node = 0, .slowdown = 1.5}});
  cluster.gpus_per_node = 4;
  const double prior = SlowestFactor(2, Variation{});
  EXPECT_THAT(OverNominal(3, cluster),
              ElementsAre(Near(1.5), Near(1.5), Near(1.5), Near(1.5),
                          Near(prior), Near(prior)));
}

}  // namespace
}  // namespace prism::estimate
