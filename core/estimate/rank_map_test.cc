#include "core/estimate/rank_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace prism::estimate {
namespace {

using ::testing::ElementsAre;
using workload::RankOrder;

workload::Parallelism Split(RankOrder order) {
  workload::Parallelism split;
  split.tensor = 2;
  split.pipeline = 3;
  split.data = 4;
  split.rank_order = order;
  return split;
}

hardware::Cluster SixNodesOfFour() {
  hardware::Cluster cluster;
  cluster.nodes = 6;
  cluster.gpus_per_node = 4;
  return cluster;
}

TEST(RankMapTest, TensorDataPipelineKeepsReplicasOfAStageTogether) {
  const RankMap map(Split(RankOrder::kTensorDataPipeline), SixNodesOfFour(),
                    {});
  EXPECT_EQ(map.LaunchedRank(0, 0, 1), 1);
  EXPECT_EQ(map.LaunchedRank(1, 0, 0), 2);
  EXPECT_EQ(map.LaunchedRank(0, 1, 0), 8);
  EXPECT_THAT(map.DataGroup(0, 0), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(map.TensorGroup(0, 1, 0), ElementsAre(8, 9));
}

TEST(RankMapTest, TensorPipelineDataKeepsStagesOfAReplicaTogether) {
  const RankMap map(Split(RankOrder::kTensorPipelineData), SixNodesOfFour(),
                    {});
  EXPECT_EQ(map.LaunchedRank(0, 1, 0), 2);
  EXPECT_EQ(map.LaunchedRank(1, 0, 0), 6);
  EXPECT_THAT(map.DataGroup(0, 1), ElementsAre(1, 7, 13, 19));
}

TEST(RankMapTest, EveryRankHasItsOwnGpu) {
  for (const RankOrder order :
       {RankOrder::kTensorDataPipeline, RankOrder::kTensorPipelineData}) {
    const RankMap map(Split(order), SixNodesOfFour(), {});
    std::set<int64_t> gpus;
    for (int replica = 0; replica < 4; ++replica) {
      for (int stage = 0; stage < 3; ++stage) {
        for (int lane = 0; lane < 2; ++lane) {
          gpus.insert(map.Gpu(replica, stage, lane));
        }
      }
    }
    EXPECT_EQ(gpus.size(), 24u);
    EXPECT_EQ(*gpus.rbegin(), 23);
  }
}

TEST(RankMapTest, ContextRanksFollowTensorRanks) {
  workload::Parallelism split = Split(RankOrder::kTensorDataPipeline);
  split.pipeline = 1;
  split.context = 3;
  const RankMap map(split, SixNodesOfFour(), {});
  EXPECT_EQ(map.lanes(), 6);
  EXPECT_THAT(map.TensorGroup(0, 0, 1), ElementsAre(2, 3));
  EXPECT_THAT(map.ContextGroup(1, 0, 1), ElementsAre(7, 9, 11));
  EXPECT_THAT(map.DataGroup(0, 0),
              ElementsAre(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22));
}

TEST(RankMapTest, PlacementNamesTheNodes) {
  const RankMap map(Split(RankOrder::kTensorDataPipeline), SixNodesOfFour(),
                    {.nodes = {5, 0, 3, 1, 2, 4}});
  EXPECT_EQ(map.Node(0, 0, 0), 5);
  EXPECT_EQ(map.Gpu(0, 0, 1), 5 * 4 + 1);
  EXPECT_EQ(map.Node(2, 0, 0), 0);
  EXPECT_EQ(map.Node(0, 1, 0), 3);
}

}  // namespace
}  // namespace prism::estimate
