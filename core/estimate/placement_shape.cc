#include "core/estimate/placement_shape.h"

#include <algorithm>
#include <numeric>

#include "core/base/check.h"
#include "core/hardware/group_shaper.h"

namespace prism::estimate {
namespace {

using hardware::Fabric;
using hardware::PathFactors;

bool LiesLike(const PlacedGroup& a, const PlacedGroup& b) {
  return a.shape == b.shape;
}
bool LiesLike(const PlacedHop& a, const PlacedHop& b) {
  return a.level == b.level;
}

// Keeps the slowest of those that lie alike.
template <typename Placed>
void Keep(const Placed& placed, std::vector<Placed>& kept) {
  for (Placed& other : kept) {
    if (!LiesLike(placed, other)) continue;
    other.path_factor = std::max(other.path_factor, placed.path_factor);
    return;
  }
  kept.push_back(placed);
}

// How many lanes in a row lie alike, whatever stage and replica: the largest
// block that never leaves a node nor straddles units of a level.
int64_t LanesAlike(const RankMap& ranks, const Fabric& fabric) {
  const int64_t block = std::gcd(ranks.lanes(), fabric.gpus_per_node());
  const auto& levels = fabric.levels();
  const bool fits =
      std::all_of(levels.begin(), levels.end(), [block](const auto& level) {
        return !level.unit_of_node.empty() || level.gpus % block == 0 ||
               block % level.gpus == 0;
      });
  return fits ? block : 1;
}

class ShapeFinder final {
 public:
  ShapeFinder(const RankMap& ranks, const Fabric& fabric,
              const PathFactors& paths)
      : ranks_(ranks),
        fabric_(fabric),
        paths_(paths),
        lanes_alike_(LanesAlike(ranks, fabric)),
        shaper_(fabric) {}

  PlacementShape Find() {
    PlacementShape shape;
    const int64_t last = ranks_.stages() - 1;
    shape.tensor_groups = TensorGroups();
    if (ranks_.context() > 1) shape.context_groups = ContextGroups();
    const bool hybrid = ranks_.shards() > 1 &&
                        ranks_.shards() < ranks_.replicas() * ranks_.context();
    for (int64_t stage = 0; stage <= last; ++stage) {
      shape.data_groups.push_back(DataGroups(stage));
      if (hybrid) AddShards(stage, shape);
      if (stage < last || ranks_.loops()) {
        shape.boundaries.push_back(Hops(stage, stage < last ? stage + 1 : 0));
      }
    }
    if (last > 0) shape.tied_copies = Pairs(0, last);
    for (int64_t stage = 0; ranks_.has_twins() && stage <= last; ++stage) {
      shape.twins.push_back(Pairs(stage, last - stage));
    }
    return shape;
  }

 private:
  using Gpus = std::vector<int64_t>;

  // Lanes that lie alike and have tensor ranks in a row.
  int64_t TensorRanksAlike() const {
    return std::gcd(lanes_alike_, ranks_.tensor());
  }
  // Stages of replicas that fill a block of a node all lie like the first.
  int64_t ReplicasUnlike() const {
    return lanes_alike_ == ranks_.lanes() ? 1 : ranks_.replicas();
  }
  int64_t StagesUnlike() const {
    return lanes_alike_ == ranks_.lanes() ? 1 : ranks_.stages();
  }

  std::vector<PlacedGroup> TensorGroups() {
    std::vector<PlacedGroup> groups;
    for (int64_t replica = 0; replica < ReplicasUnlike(); ++replica) {
      for (int64_t stage = 0; stage < StagesUnlike(); ++stage) {
        for (int64_t rank = 0; rank < ranks_.context(); ++rank) {
          Keep(Group(ranks_.TensorGroup(replica, stage, rank)), groups);
        }
      }
    }
    std::sort(groups.begin(), groups.end());
    return groups;
  }

  std::vector<PlacedGroup> ContextGroups() {
    std::vector<PlacedGroup> groups;
    for (int64_t replica = 0; replica < ReplicasUnlike(); ++replica) {
      for (int64_t stage = 0; stage < StagesUnlike(); ++stage) {
        for (int64_t rank = 0; rank < ranks_.tensor();
             rank += TensorRanksAlike()) {
          Keep(Group(ranks_.ContextGroup(replica, stage, rank)), groups);
        }
      }
    }
    std::sort(groups.begin(), groups.end());
    return groups;
  }

  std::vector<PlacedGroup> DataGroups(int64_t stage) {
    std::vector<PlacedGroup> groups;
    for (int64_t rank = 0; rank < ranks_.tensor(); rank += TensorRanksAlike()) {
      Keep(Group(ranks_.DataGroup(stage, rank)), groups);
    }
    std::sort(groups.begin(), groups.end());
    return groups;
  }

  void AddShards(int64_t stage, PlacementShape& shape) {
    auto& shards = shape.shard_groups.emplace_back();
    auto& copies = shape.shard_copies.emplace_back();
    const int64_t size = ranks_.shards();
    for (int64_t rank = 0; rank < ranks_.tensor(); rank += TensorRanksAlike()) {
      const Gpus all = ranks_.DataGroup(stage, rank);
      for (auto first = all.begin(); first != all.end(); first += size) {
        Keep(Group(Gpus(first, first + size)), shards);
      }
      for (int64_t shard = 0; shard < size; ++shard) {
        Gpus same;
        for (size_t i = static_cast<size_t>(shard); i < all.size();
             i += static_cast<size_t>(size)) {
          same.push_back(all[i]);
        }
        Keep(Group(same), copies);
      }
    }
    std::sort(shards.begin(), shards.end());
    std::sort(copies.begin(), copies.end());
  }

  std::vector<PlacedHop> Hops(int64_t from, int64_t to) const {
    std::vector<PlacedHop> hops;
    for (int64_t replica = 0; replica < ranks_.replicas(); ++replica) {
      for (int64_t lane = 0; lane < ranks_.lanes(); lane += lanes_alike_) {
        Keep(
            Hop(ranks_.Gpu(replica, from, lane), ranks_.Gpu(replica, to, lane)),
            hops);
      }
    }
    std::sort(hops.begin(), hops.end());
    return hops;
  }

  std::vector<PlacedGroup> Pairs(int64_t first, int64_t second) const {
    std::vector<PlacedGroup> pairs;
    for (const PlacedHop& hop : Hops(first, second)) {
      PlacedGroup pair = {.shape = {.members = 2, .in_unit = {}},
                          .path_factor = hop.path_factor};
      for (size_t level = 0; level < fabric_.levels().size(); ++level) {
        const bool joined = static_cast<int>(level) >= hop.level;
        pair.shape.in_unit.push_back(joined ? 2 : 1);
      }
      pairs.push_back(std::move(pair));
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  }

  PlacedHop Hop(int64_t from, int64_t to) const {
    PlacedHop hop = {.level = fabric_.LevelOf(from, to)};
    if (!paths_.empty()) {
      hop.path_factor = paths_.Between(NodeOf(from), NodeOf(to));
    }
    return hop;
  }

  PlacedGroup Group(const Gpus& gpus) {
    PlacedGroup group = {.shape = shaper_.ShapeOf(gpus)};
    if (!paths_.empty()) group.path_factor = SlowestNeighbours(gpus);
    return group;
  }

  double SlowestNeighbours(const Gpus& gpus) const {
    double slowest = 0;
    int64_t before = NodeOf(gpus.back());
    for (const int64_t gpu : gpus) {
      const int64_t node = NodeOf(gpu);
      if (node != before) {
        slowest = std::max(slowest, paths_.Between(before, node));
      }
      before = node;
    }
    return slowest > 0 ? slowest : 1;
  }

  int64_t NodeOf(int64_t gpu) const { return gpu / fabric_.gpus_per_node(); }

  const RankMap& ranks_;
  const Fabric& fabric_;
  const PathFactors& paths_;
  int64_t lanes_alike_;
  hardware::GroupShaper shaper_;
};

}  // namespace

PlacementShape ShapeOf(const RankMap& ranks, const Fabric& fabric,
                       const PathFactors& paths) {
  return ShapeFinder(ranks, fabric, paths).Find();
}

PlacementShape ShapeOf(const workload::Job& job,
                       const hardware::Cluster& cluster,
                       const Placement& placement) {
  const hardware::Accelerator* accelerator =
      hardware::FindAccelerator(cluster.accelerator);
  PRISM_CHECK(accelerator != nullptr);
  return ShapeOf(RankMap(job.parallelism, cluster, placement),
                 Fabric(cluster, *accelerator),
                 PathFactors(cluster.path_states));
}

}  // namespace prism::estimate
