#include "core/estimate/placement_shape.h"

#include <absl/hash/hash_testing.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "core/hardware/group_shaper.h"
#include "core/workload/testing/jobs.h"

namespace prism::estimate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using workload::Job;
using workload::RankOrder;

// Nodes of `gpus_per_node` under leaves of two nodes and pods of four.
hardware::Cluster ClusterOf(int64_t nodes, int64_t gpus_per_node) {
  hardware::Cluster cluster;
  cluster.accelerator = "a100-80gb-sxm";
  cluster.nodes = nodes;
  cluster.gpus_per_node = gpus_per_node;
  cluster.fabric = {{"node", gpus_per_node, 300e9, 1e-6, 1},
                    {"leaf", 2 * gpus_per_node, 25e9, 4e-6, 1},
                    {"pod", 4 * gpus_per_node, 25e9, 5e-6, 2},
                    {"spine", nodes * gpus_per_node, 25e9, 6e-6, 4}};
  return cluster;
}

Job JobOf(int64_t tensor, int64_t pipeline, int64_t data,
          RankOrder order = RankOrder::kTensorDataPipeline) {
  Job job;
  job.model = workload::testing::Gpt(48, 2048, 16);
  job.parallelism.tensor = tensor;
  job.parallelism.pipeline = pipeline;
  job.parallelism.data = data;
  job.parallelism.rank_order = order;
  return job;
}

// Every group and hop as its definition says, without short cuts.
class Definition {
 public:
  Definition(const Job& job, const hardware::Cluster& cluster,
             const Placement& placement)
      : ranks_(job.parallelism, cluster, placement),
        shards_(static_cast<size_t>(ranks_.shards())),
        hybrid_(ranks_.shards() > 1 &&
                ranks_.shards() < job.parallelism.gradient_ranks()),
        fabric_(cluster, *hardware::FindAccelerator(cluster.accelerator)),
        paths_(cluster.path_states),
        gpus_per_node_(cluster.gpus_per_node) {}

  PlacementShape Shape() const {
    PlacementShape shape;
    std::vector<std::vector<int64_t>> tensor, context, tied;
    const int64_t last = ranks_.stages() - 1;
    for (int64_t s = 0; s <= last; ++s) {
      std::vector<std::vector<int64_t>> data;
      for (int64_t r = 0; r < ranks_.replicas(); ++r) {
        for (int64_t c = 0; c < ranks_.context(); ++c) {
          tensor.push_back(ranks_.TensorGroup(r, s, c));
        }
        for (int64_t t = 0; t < ranks_.tensor(); ++t) {
          context.push_back(ranks_.ContextGroup(r, s, t));
        }
      }
      for (int64_t t = 0; t < ranks_.tensor(); ++t) {
        data.push_back(ranks_.DataGroup(s, t));
      }
      shape.data_groups.push_back(Groups(data));
      if (hybrid_) AddShards(data, shape);
      if (s < last) shape.boundaries.push_back(Hops(s));
    }
    for (int64_t r = 0; last > 0 && r < ranks_.replicas(); ++r) {
      for (int64_t l = 0; l < ranks_.lanes(); ++l) {
        tied.push_back({ranks_.Gpu(r, 0, l), ranks_.Gpu(r, last, l)});
      }
    }
    shape.tensor_groups = Groups(tensor);
    if (ranks_.context() > 1) shape.context_groups = Groups(context);
    shape.tied_copies = Groups(tied);
    return shape;
  }

 private:
  std::vector<PlacedGroup> Groups(
      const std::vector<std::vector<int64_t>>& groups) const {
    hardware::GroupShaper shaper(fabric_);
    std::map<hardware::GroupShape, double> slowest;
    for (const auto& gpus : groups) {
      double factor = 0;
      for (size_t i = 0; i < gpus.size(); ++i) {
        const int64_t a = gpus[i] / gpus_per_node_;
        const int64_t b = gpus[(i + 1) % gpus.size()] / gpus_per_node_;
        if (a != b) factor = std::max(factor, paths_.Between(a, b));
      }
      double& kept = slowest[shaper.ShapeOf(gpus)];
      kept = std::max(kept, factor == 0 ? 1 : factor);
    }
    std::vector<PlacedGroup> placed;
    for (const auto& [shape, factor] : slowest) {
      placed.push_back({shape, factor});
    }
    return placed;
  }

  std::vector<PlacedHop> Hops(int64_t stage) const {
    std::map<int, double> slowest;
    for (int64_t r = 0; r < ranks_.replicas(); ++r) {
      for (int64_t l = 0; l < ranks_.lanes(); ++l) {
        const int64_t a = ranks_.Gpu(r, stage, l);
        const int64_t b = ranks_.Gpu(r, stage + 1, l);
        double& kept = slowest[fabric_.LevelOf(a, b)];
        kept = std::max(kept,
                        paths_.Between(a / gpus_per_node_, b / gpus_per_node_));
      }
    }
    std::vector<PlacedHop> hops;
    for (const auto& [level, factor] : slowest) hops.push_back({level, factor});
    return hops;
  }

  void AddShards(const std::vector<std::vector<int64_t>>& data,
                 PlacementShape& shape) const {
    std::vector<std::vector<int64_t>> shards, copies;
    for (const auto& all : data) {
      std::map<size_t, std::vector<int64_t>> of_copy, of_shard;
      for (size_t i = 0; i < all.size(); ++i) {
        of_copy[i / shards_].push_back(all[i]);
        of_shard[i % shards_].push_back(all[i]);
      }
      for (auto& [copy, gpus] : of_copy) shards.push_back(gpus);
      for (auto& [shard, gpus] : of_shard) copies.push_back(gpus);
    }
    shape.shard_groups.push_back(Groups(shards));
    shape.shard_copies.push_back(Groups(copies));
  }

  RankMap ranks_;
  size_t shards_;
  bool hybrid_;
  hardware::Fabric fabric_;
  hardware::PathFactors paths_;
  int64_t gpus_per_node_;
};

class RandomCase {
 public:
  explicit RandomCase(uint32_t seed) : random_(seed) {
    job = JobOf(OneOf({1, 2, 3, 4, 8, 16}), OneOf({1, 2, 3, 4}),
                OneOf({1, 2, 3, 6}),
                OneOf({0, 1}) ? RankOrder::kTensorDataPipeline
                              : RankOrder::kTensorPipelineData);
    job.parallelism.context = OneOf({1, 1, 2, 3});
    if (OneOf({0, 1}) == 0) DrawShards();
    const int64_t gpus_per_node = OneOf({1, 2, 4, 6, 8});
    const int64_t needed =
        (job.parallelism.gpus() + gpus_per_node - 1) / gpus_per_node;
    cluster = ClusterOf(needed + OneOf({0, 1, 5}), gpus_per_node);
    // Links that join a part of the node.
    cluster.fabric[0].gpus = std::gcd(gpus_per_node, OneOf({0, 2, 3}));
    if (OneOf({0, 1}) == 0) DrawLeaves();
    std::vector<int64_t> nodes(static_cast<size_t>(cluster.nodes));
    std::iota(nodes.begin(), nodes.end(), 0);
    std::shuffle(nodes.begin(), nodes.end(), random_);
    placement.nodes.assign(nodes.begin(), nodes.begin() + needed);
    for (int i = 0; i + 1 < cluster.nodes && i < 6; ++i) {
      cluster.path_states.push_back(
          {.from = i, .to = i + 1, .slowdown = 0.8 + 0.1 * i});
    }
  }

  Job job;
  hardware::Cluster cluster;
  Placement placement;

 private:
  int64_t OneOf(std::vector<int64_t> values) {
    return values[random_() % values.size()];
  }

  void DrawShards() {
    job.parallelism.sharding = workload::Sharding::kZero3;
    const int64_t shards = OneOf({0, 2, 3, 4});
    if (shards > 0 && job.parallelism.gradient_ranks() % shards == 0) {
      job.parallelism.shard_group = shards;
    }
  }

  void DrawLeaves() {
    cluster.fabric.erase(cluster.fabric.begin() + 2);
    for (int64_t node = 0; node < cluster.nodes; ++node) {
      cluster.fabric[1].unit_of_node.push_back(
          static_cast<int32_t>(OneOf({0, 0, 1, 2})));
    }
  }

  std::mt19937 random_;
};

TEST(PlacementShapeTest, IsThatOfEveryGroupByDefinition) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    const RandomCase c(seed);
    EXPECT_TRUE(ShapeOf(c.job, c.cluster, c.placement) ==
                Definition(c.job, c.cluster, c.placement).Shape())
        << seed;
  }
}

TEST(PlacementShapeTest, AlikePlacementsHaveOneShape) {
  const Job job = JobOf(8, 2, 2);
  const hardware::Cluster cluster = ClusterOf(16, 8);
  const PlacementShape first = ShapeOf(job, cluster, {});
  EXPECT_TRUE(ShapeOf(job, cluster, {{8, 9, 10, 11}}) == first);
  EXPECT_TRUE(ShapeOf(job, cluster, {{1, 0, 2, 3}}) == first);
  EXPECT_FALSE(ShapeOf(job, cluster, {{0, 2, 1, 3}}) == first);
}

TEST(PlacementShapeTest, HashAgreesWithEquality) {
  const Job job = JobOf(8, 2, 2);
  hardware::Cluster cluster = ClusterOf(16, 8);
  std::vector<PlacementShape> shapes;
  for (const Placement& placement :
       {Placement{{0, 1, 2, 3}}, Placement{{8, 9, 10, 11}},
        Placement{{0, 2, 1, 3}}, Placement{{0, 4, 8, 12}}}) {
    shapes.push_back(ShapeOf(job, cluster, placement));
  }
  cluster.path_states = {{.from = 0, .to = 1, .slowdown = 2}};
  shapes.push_back(ShapeOf(job, cluster, {{0, 1, 2, 3}}));
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(shapes));
}

TEST(PlacementShapeTest, OneStageHasNeitherBoundariesNorTiedPairs) {
  const PlacementShape shape = ShapeOf(JobOf(8, 1, 4), ClusterOf(4, 8), {});
  EXPECT_THAT(shape.boundaries, IsEmpty());
  EXPECT_THAT(shape.tied_copies, IsEmpty());
}

TEST(PlacementShapeTest, InterleavedStagesCloseTheRing) {
  Job job = JobOf(8, 4, 1);
  EXPECT_THAT(ShapeOf(job, ClusterOf(8, 8), {}).boundaries, SizeIs(3));
  job.parallelism.virtual_stages = 2;
  // Stages 0 and 3 lie in two leaves of one pod.
  EXPECT_THAT(ShapeOf(job, ClusterOf(8, 8), {}).boundaries[3],
              ElementsAre(PlacedHop{.level = 2, .path_factor = 1}));
}

TEST(PlacementShapeTest, OnlyPathsOfNeighboursCount) {
  const Job job = JobOf(8, 1, 4);
  hardware::Cluster cluster = ClusterOf(4, 8);
  const auto factor = [&] {
    return ShapeOf(job, cluster, {}).data_groups[0][0].path_factor;
  };
  // The ring is 0, 1, 2, 3 and back.
  cluster.path_states = {{.from = 0, .to = 2, .slowdown = 3}};
  EXPECT_EQ(factor(), 1);
  cluster.path_states = {{.from = 1, .to = 2, .slowdown = 2}};
  EXPECT_EQ(factor(), 2);
  cluster.path_states = {{.from = 0, .to = 3, .slowdown = 1.5}};
  EXPECT_EQ(factor(), 1.5);
}

TEST(PlacementShapeTest, AFastPathHelpsWhereNoOtherIsUsed) {
  hardware::Cluster cluster = ClusterOf(4, 8);
  cluster.path_states = {{.from = 0, .to = 1, .slowdown = 0.5}};
  EXPECT_EQ(ShapeOf(JobOf(8, 1, 2), cluster, {}).data_groups[0][0].path_factor,
            0.5);
  EXPECT_EQ(ShapeOf(JobOf(8, 1, 4), cluster, {}).data_groups[0][0].path_factor,
            1);
}

}  // namespace
}  // namespace prism::estimate
