// PlacementShape: all that communication times of a job depend on in where it
// runs.
//
// Placements of equal shape share one step graph; they differ in the slowdowns
// of their ranks alone (rank_slowdown.h). Finding the shape of a job of 16,384
// GPUs takes a fraction of a millisecond.
#ifndef PRISM_CORE_ESTIMATE_PLACEMENT_SHAPE_H_
#define PRISM_CORE_ESTIMATE_PLACEMENT_SHAPE_H_

#include <utility>
#include <vector>

#include "core/estimate/placement.h"
#include "core/estimate/rank_map.h"
#include "core/hardware/cluster.h"
#include "core/hardware/fabric.h"
#include "core/hardware/path_factors.h"
#include "core/workload/job.h"

namespace prism::estimate {

// A group of ranks that meet in collectives.
struct PlacedGroup {
  hardware::GroupShape shape;
  // Factor of the slowest path between neighbours of its ring, which is in
  // rank order and closed. 1 for a group inside one node.
  double path_factor = 1;

  auto operator<=>(const PlacedGroup&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const PlacedGroup& group) {
    return H::combine(std::move(h), group.shape, group.path_factor);
  }
};

// The way from one GPU to another.
struct PlacedHop {
  int level = hardware::kSameGpu;  // Fabric::LevelOf
  double path_factor = 1;

  auto operator<=>(const PlacedHop&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const PlacedHop& hop) {
    return H::combine(std::move(h), hop.level, hop.path_factor);
  }
};

// Of groups and hops that lie alike only those with the slowest path are kept,
// each once, sorted.
struct PlacementShape {
  using Groups = std::vector<PlacedGroup>;

  Groups tensor_groups;
  Groups context_groups;            // empty for one context rank
  std::vector<Groups> data_groups;  // by stage
  // By stage, where sharding is hybrid, else empty: ranks that hold one
  // sharded copy, and those that hold the same shard.
  std::vector<Groups> shard_groups;
  std::vector<Groups> shard_copies;
  // By stage: to the next; of the last to the first where chunks are looped,
  // and missing where not.
  std::vector<std::vector<PlacedHop>> boundaries;
  // First and last stage of a replica; empty for one stage.
  Groups tied_copies;
  // By stage: with the one that holds the same layers; empty where each stage
  // has its own.
  std::vector<Groups> twins;

  bool operator==(const PlacementShape&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const PlacementShape& shape) {
    return H::combine(std::move(h), shape.tensor_groups, shape.context_groups,
                      shape.data_groups, shape.shard_groups, shape.shard_copies,
                      shape.boundaries, shape.tied_copies, shape.twins);
  }
};

// Requires: `ranks` were placed on the cluster of `fabric` and `paths`.
PlacementShape ShapeOf(const RankMap& ranks, const hardware::Fabric& fabric,
                       const hardware::PathFactors& paths);

// The same for a single question. Requires: the three are valid and fit each
// other, and the accelerator is of the catalogue.
PlacementShape ShapeOf(const workload::Job& job,
                       const hardware::Cluster& cluster,
                       const Placement& placement);

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_PLACEMENT_SHAPE_H_
