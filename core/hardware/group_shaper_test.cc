#include "core/hardware/group_shaper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace prism::hardware {
namespace {

using ::testing::ElementsAre;

// 4 nodes of 8, two nodes a leaf.
Cluster SmallCluster() {
  Cluster cluster;
  cluster.accelerator = "a100-80gb-sxm";
  cluster.nodes = 4;
  cluster.fabric = {{"node", 8, 100e9, 1e-6, 1},
                    {"leaf", 16, 10e9, 4e-6, 1},
                    {"spine", 32, 10e9, 6e-6, 2}};
  return cluster;
}

Fabric FabricOf(const Cluster& cluster) {
  return Fabric(cluster, *FindAccelerator("a100-80gb-sxm"));
}

std::vector<int64_t> Gpus(int64_t first, int64_t count, int64_t stride = 1) {
  std::vector<int64_t> gpus;
  for (int64_t i = 0; i < count; ++i) gpus.push_back(first + i * stride);
  return gpus;
}

TEST(GroupShaperTest, CountsMembersByLevel) {
  const Fabric fabric = FabricOf(SmallCluster());
  GroupShaper shaper(fabric);
  EXPECT_THAT(shaper.ShapeOf(Gpus(0, 8)).in_unit, ElementsAre(8, 8, 8));
  EXPECT_THAT(shaper.ShapeOf(Gpus(3, 4, 8)).in_unit, ElementsAre(1, 2, 4));
  EXPECT_THAT(shaper.ShapeOf(Gpus(6, 4)).in_unit, ElementsAre(2, 4, 4));
}

TEST(GroupShaperTest, ForgetsTheGroupBefore) {
  const Fabric fabric = FabricOf(SmallCluster());
  GroupShaper shaper(fabric);
  const GroupShape first = shaper.ShapeOf(Gpus(0, 8));
  shaper.ShapeOf(Gpus(0, 32));
  EXPECT_EQ(shaper.ShapeOf(Gpus(0, 8)), first);
}

TEST(GroupShaperTest, NodesNeedNotBeNumberedUnitByUnit) {
  Cluster cluster = SmallCluster();
  cluster.fabric[1].unit_of_node = {0, 1, 0, 0};
  cluster.fabric[1].gpus = 24;
  const Fabric fabric = FabricOf(cluster);
  GroupShaper shaper(fabric);
  EXPECT_THAT(shaper.ShapeOf(Gpus(0, 2, 16)).in_unit, ElementsAre(1, 2, 2));
  EXPECT_THAT(shaper.ShapeOf(Gpus(0, 2, 8)).in_unit, ElementsAre(1, 1, 2));
  EXPECT_THAT(shaper.ShapeOf(Gpus(0, 32)).in_unit, ElementsAre(8, 8, 32));
  EXPECT_EQ(fabric.LevelOf(0, 16), 1);
  EXPECT_EQ(fabric.LevelOf(0, 8), 2);
}

// The same fabric, written as a list of units.
Cluster Listed(Cluster cluster, size_t level) {
  FabricLevel& link = cluster.fabric[level];
  for (int64_t node = 0; node < cluster.nodes; ++node) {
    link.unit_of_node.push_back(
        static_cast<int32_t>(node * cluster.gpus_per_node / link.gpus));
  }
  return cluster;
}

TEST(GroupShaperTest, ListedUnitsAreAsGoodAsRegularOnes) {
  std::mt19937 random(7);
  Cluster cluster = SmallCluster();
  cluster.nodes = 24;
  cluster.fabric = {{"node", 8, 100e9, 1e-6, 1},
                    {"leaf", 16, 20e9, 4e-6, 1},
                    {"pod", 64, 10e9, 5e-6, 2},
                    {"spine", 192, 10e9, 6e-6, 3}};
  const Fabric regular = FabricOf(cluster);
  const Fabric listed = FabricOf(Listed(Listed(cluster, 1), 2));
  GroupShaper regular_shaper(regular), listed_shaper(listed);
  std::vector<int64_t> all = Gpus(0, 192);
  for (int round = 0; round < 200; ++round) {
    std::shuffle(all.begin(), all.end(), random);
    const std::span<const int64_t> group(all.data(), 1 + random() % 64);
    const GroupShape shape = regular_shaper.ShapeOf(group);
    EXPECT_EQ(listed_shaper.ShapeOf(group), shape);
    EXPECT_EQ(
        listed.CollectiveTime(CollectiveKind::kAllReduce, 1e8, shape).seconds,
        regular.CollectiveTime(CollectiveKind::kAllReduce, 1e8, shape).seconds);
    EXPECT_EQ(listed.LevelOf(all[0], all[1]), regular.LevelOf(all[0], all[1]));
    EXPECT_EQ(
        listed.TransferTime(1e8, listed.LevelOf(all[0], all[1])).seconds,
        regular.TransferTime(1e8, regular.LevelOf(all[0], all[1])).seconds);
  }
}

}  // namespace
}  // namespace prism::hardware
