#include "core/hardware/fabric.h"

#include <gtest/gtest.h>

#include "core/hardware/group_shaper.h"

namespace prism::hardware {
namespace {

// 4 nodes of 8, two nodes a leaf, twice oversubscribed above.
Cluster SmallCluster() {
  Cluster cluster;
  cluster.accelerator = "a100-80gb-sxm";
  cluster.nodes = 4;
  cluster.fabric = {{"node", 8, 100e9, 1e-6, 1},
                    {"leaf", 16, 10e9, 4e-6, 1},
                    {"spine", 32, 10e9, 6e-6, 2}};
  return cluster;
}

// Plain formulas: no start, no loss.
LinkSpeeds Ideal() {
  const ProtocolSpeeds all;
  const FlaggedSpeeds flagged = {.hop_seconds = 0,
                                 .most_bytes_per_second = 1e30};
  const NodeSpeeds node = {.ll = all, .ll128 = all, .simple = all};
  LinkSpeeds speeds;
  speeds.nvlink3 = node;
  speeds.nvlink4 = node;
  speeds.network = {.ll = flagged,
                    .ll128 = flagged,
                    .simple = all,
                    .card_seconds = 0,
                    .tree_share = 1,
                    .peer_seconds = 0,
                    .exchange_share = 1,
                    .transfer = all};
  speeds.node_transfer = all;
  speeds.node_bulk_transfer = all;
  speeds.through_share = 1;
  speeds.own_share = 0;
  return speeds;
}

Fabric SmallFabric(const LinkSpeeds& speeds = Ideal()) {
  return Fabric(SmallCluster(), *FindAccelerator("a100-80gb-sxm"), speeds);
}

std::vector<int64_t> Gpus(int64_t first, int64_t count, int64_t stride = 1) {
  std::vector<int64_t> gpus;
  for (int64_t i = 0; i < count; ++i) gpus.push_back(first + i * stride);
  return gpus;
}

double Seconds(const Fabric& fabric, CollectiveKind kind, double bytes,
               const std::vector<int64_t>& gpus) {
  return fabric.CollectiveTime(kind, bytes, GroupShaper(fabric).ShapeOf(gpus))
      .seconds;
}

TEST(CollectiveTest, RingInsideANodeFollowsTheFormula) {
  const Fabric fabric = SmallFabric();
  EXPECT_DOUBLE_EQ(Seconds(fabric, CollectiveKind::kAllGather, 1e9, Gpus(0, 8)),
                   7e-6 + 7.0 / 8 * 1e9 / 100e9);
  EXPECT_DOUBLE_EQ(
      Seconds(fabric, CollectiveKind::kReduceScatter, 1e9, Gpus(0, 8)),
      7e-6 + 7.0 / 8 * 1e9 / 100e9);
  EXPECT_DOUBLE_EQ(Seconds(fabric, CollectiveKind::kAllReduce, 1e9, Gpus(0, 8)),
                   2 * (7e-6 + 7.0 / 8 * 1e9 / 100e9));
}

TEST(CollectiveTest, TreeOfNodesWinsWhereLatencyDoes) {
  // Up and down: one hop inside a leaf, one over the spine. A ring makes two
  // inside leaves.
  EXPECT_NEAR(
      Seconds(SmallFabric(), CollectiveKind::kAllReduce, 1, Gpus(0, 4, 8)),
      2 * (4e-6 + 6e-6), 1e-9);
}

TEST(CollectiveTest, GatheringGoesRoundRingsAlone) {
  EXPECT_NEAR(
      Seconds(SmallFabric(), CollectiveKind::kAllGather, 1, Gpus(0, 4, 8)),
      2 * 4e-6 + 6e-6, 1e-9);
}

TEST(CollectiveTest, BroadcastPassesTheWholeVectorOn) {
  EXPECT_DOUBLE_EQ(
      Seconds(SmallFabric(), CollectiveKind::kBroadcast, 1e9, Gpus(0, 8)),
      7e-6 + 1e9 / 100e9);
}

TEST(CollectiveTest, ExchangeIsBoundByWhatLeavesTheNode) {
  // Half of each vector goes to the other node, over one card each.
  EXPECT_DOUBLE_EQ(
      Seconds(SmallFabric(), CollectiveKind::kAllToAll, 1e9, Gpus(0, 16)),
      4e-6 + 0.5 * 1e9 / 10e9);
}

// Each of eight cards carries an eighth of the vector of a tensor group that
// spans two nodes, twice, all but one sixteenth.
TEST(CollectiveTest, RingsThroughNodesShareTheirCards) {
  EXPECT_NEAR(
      Seconds(SmallFabric(), CollectiveKind::kAllReduce, 1e9, Gpus(0, 16)),
      2 * 15.0 / 16 * 1e9 / (8 * 10e9), 1e-4);
}

TEST(CollectiveTest, SwitchesOfHopperReduceForWholeNodes) {
  Cluster cluster = SmallCluster();
  LinkSpeeds speeds = Ideal();
  speeds.nvlink4.in_switch.share = 0.7;
  const Fabric ampere(cluster, *FindAccelerator("a100-80gb-sxm"), speeds);
  const Fabric hopper(cluster, *FindAccelerator("h100-80gb-sxm"), speeds);
  // Once over the links, not twice.
  EXPECT_DOUBLE_EQ(Seconds(hopper, CollectiveKind::kAllReduce, 1e9, Gpus(0, 8)),
                   1e9 / 70e9);
  for (const auto& gpus : {Gpus(0, 4), Gpus(0, 4, 8)}) {
    EXPECT_EQ(Seconds(hopper, CollectiveKind::kAllReduce, 1e9, gpus),
              Seconds(ampere, CollectiveKind::kAllReduce, 1e9, gpus));
  }
}

TEST(CollectiveTest, NodesHoldEachOtherUpButNotTheirOwnGpus) {
  const Fabric fabric = SmallFabric();
  GroupShaper shaper(fabric);
  const auto stalls = [&](const std::vector<int64_t>& gpus) {
    return fabric
        .CollectiveTime(CollectiveKind::kAllReduce, 1e6, shaper.ShapeOf(gpus))
        .stalls;
  };
  EXPECT_EQ(stalls(Gpus(0, 8)), 0);
  EXPECT_GT(stalls(Gpus(0, 16)), 0);
  EXPECT_DOUBLE_EQ(stalls(Gpus(0, 32)), 2 * stalls(Gpus(0, 16)));
}

TEST(CollectiveTest, OneMemberTakesNoTime) {
  EXPECT_EQ(Seconds(SmallFabric(), CollectiveKind::kAllReduce, 1e9, {5}), 0);
}

TEST(CollectiveTest, OversubscribedLevelDecides) {
  const Fabric fabric = SmallFabric();
  // One GPU a node: inside a leaf at full rate, above it at half.
  const double leaf =
      Seconds(fabric, CollectiveKind::kAllGather, 1e10, Gpus(0, 2, 8));
  const double spine =
      Seconds(fabric, CollectiveKind::kAllGather, 1e10, Gpus(0, 2, 16));
  EXPECT_NEAR(spine / leaf, 2, 0.01);
}

TEST(CollectiveTest, NoDetourOverAnOversubscribedLevelPays) {
  const Fabric fabric = SmallFabric();
  for (const double bytes : {1e4, 1e7, 1e10}) {
    // On two nodes of one leaf, and on one of each leaf.
    for (const std::vector<int64_t>& inside :
         {std::vector<int64_t>{0}, {0, 4}, {0, 1, 2, 3, 4, 5, 6, 7}}) {
      std::vector<int64_t> together = inside, apart = inside;
      for (const int64_t gpu : inside) {
        together.push_back(gpu + 8);
        apart.push_back(gpu + 16);
      }
      EXPECT_LE(Seconds(fabric, CollectiveKind::kAllReduce, bytes, together),
                Seconds(fabric, CollectiveKind::kAllReduce, bytes, apart))
          << bytes << " bytes, " << inside.size() << " a node";
    }
  }
}

TEST(CollectiveTest, MembersOfANodeShareItsLinksBetweenNodes) {
  const Fabric fabric = SmallFabric();
  const double one =
      Seconds(fabric, CollectiveKind::kAllReduce, 1e10, Gpus(0, 2, 8));
  const double eight =
      Seconds(fabric, CollectiveKind::kAllReduce, 1e10, Gpus(0, 16));
  EXPECT_LT(eight, one / 3);
}

LinkTime Transfer(const Fabric& fabric, double bytes, int64_t from,
                  int64_t to) {
  return fabric.TransferTime(bytes, fabric.LevelOf(from, to));
}

TEST(TransferTest, UsesTheLevelThatJoinsTheTwo) {
  const Fabric fabric = SmallFabric();
  EXPECT_DOUBLE_EQ(Transfer(fabric, 1e9, 0, 7).seconds, 1e-6 + 1e9 / 100e9);
  EXPECT_DOUBLE_EQ(Transfer(fabric, 1e9, 0, 8).seconds, 4e-6 + 1e9 / 10e9);
  EXPECT_DOUBLE_EQ(Transfer(fabric, 1e9, 0, 16).seconds, 6e-6 + 1e9 / 5e9);
  EXPECT_EQ(Transfer(fabric, 1e9, 3, 3).seconds, 0);
}

TEST(TransferTest, LatencyShareIsAllOfAnEmptyMessage) {
  const LinkTime time = Transfer(SmallFabric(), 0, 0, 8);
  EXPECT_EQ(time.seconds, time.latency_seconds);
}

TEST(DefaultFabricTest, HasNodeAndNetwork) {
  Cluster cluster;
  cluster.accelerator = "h100-80gb-sxm";
  cluster.nodes = 4;
  const Fabric fabric(cluster, *FindAccelerator("h100-80gb-sxm"));
  ASSERT_EQ(fabric.levels().size(), 2u);
  EXPECT_EQ(fabric.levels()[0].gpus, 8);
  EXPECT_EQ(fabric.levels()[0].bytes_per_second, 450e9);
  EXPECT_EQ(fabric.levels()[1].gpus, 32);
  EXPECT_EQ(fabric.levels()[1].bytes_per_second, 50e9);
}

TEST(DefaultFabricTest, LinkedRackSpansNodes) {
  Cluster cluster;
  cluster.accelerator = "gb200-186gb";
  cluster.nodes = 36;
  cluster.gpus_per_node = 4;
  const Fabric fabric(cluster, *FindAccelerator("gb200-186gb"));
  EXPECT_EQ(fabric.LevelOf(0, 71), 0);
  EXPECT_EQ(fabric.LevelOf(0, 72), 1);
}

}  // namespace
}  // namespace prism::hardware
