#include "core/hardware/fabric.h"

#include <gtest/gtest.h>

#include <numeric>

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
  return {.launch_seconds = 0,
          .efficiency = 1,
          .transfer_efficiency = 1,
          .ramp_seconds = 0};
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

TEST(CollectiveTest, TreeWinsWhereLatencyDoes) {
  const Fabric fabric = SmallFabric();
  EXPECT_NEAR(Seconds(fabric, CollectiveKind::kAllReduce, 1, Gpus(0, 8)),
              2 * 3 * 1e-6, 1e-9);
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

TEST(CollectiveTest, MoreBandwidthIsNeverSlower) {
  const Accelerator& a100 = *FindAccelerator("a100-80gb-sxm");
  for (const double bytes : {1e3, 1e6, 1e9}) {
    for (size_t level = 0; level < 3; ++level) {
      Cluster faster = SmallCluster();
      faster.fabric[level].bytes_per_second *= 3;
      EXPECT_LE(Seconds(Fabric(faster, a100), CollectiveKind::kAllReduce, bytes,
                        Gpus(0, 32)),
                Seconds(SmallFabric({}), CollectiveKind::kAllReduce, bytes,
                        Gpus(0, 32)));
    }
  }
}

TEST(CollectiveTest, LowerLatencyIsNeverSlower) {
  const Accelerator& a100 = *FindAccelerator("a100-80gb-sxm");
  for (const double bytes : {1e3, 1e6, 1e9}) {
    for (size_t level = 0; level < 3; ++level) {
      Cluster closer = SmallCluster();
      closer.fabric[level].latency_seconds /= 3;
      EXPECT_LE(Seconds(Fabric(closer, a100), CollectiveKind::kAllGather, bytes,
                        Gpus(0, 32)),
                Seconds(SmallFabric({}), CollectiveKind::kAllGather, bytes,
                        Gpus(0, 32)));
    }
  }
}

TEST(CollectiveTest, LargerVectorsAreNeverFaster) {
  const Fabric fabric = SmallFabric({});
  double before = 0;
  for (double bytes = 1; bytes < 1e11; bytes *= 1.5) {
    const double now =
        Seconds(fabric, CollectiveKind::kAllReduce, bytes, Gpus(0, 32));
    EXPECT_GE(now, before) << bytes;
    before = now;
  }
}

struct MeasuredCollective {
  double bytes;
  double milliseconds;
};

// All-reduce over 8 GPUs of a DGX A100, of NVIDIA's AIConfigurator.
TEST(CollectiveTest, IsNearMeasuredAllReducesOfA100) {
  Cluster cluster;
  cluster.accelerator = "a100-80gb-sxm";
  const Fabric fabric(cluster, *FindAccelerator("a100-80gb-sxm"));
  for (const auto& [bytes, milliseconds] :
       {MeasuredCollective{4194304, 0.07518},
        MeasuredCollective{16777216, 0.2154},
        MeasuredCollective{67108864, 0.6377},
        MeasuredCollective{134217728, 1.2207},
        MeasuredCollective{536870912, 4.3643}}) {
    EXPECT_NEAR(
        1e3 * Seconds(fabric, CollectiveKind::kAllReduce, bytes, Gpus(0, 8)) /
            milliseconds,
        1, 0.10)
        << bytes;
  }
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
