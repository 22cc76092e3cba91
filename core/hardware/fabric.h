// Fabric: how fast a cluster's links carry collectives.
//
// Links form nested levels (GPUs of a node, nodes of a leaf, leaves of a pod).
// A group's members lie in units of each level. What leaves a node goes over
// the links of all members there, each with the rate of one GPU at every level
// it crosses, divided by that level's oversubscription, as if everybody sent;
// the slowest decides. Of the ways of collective_ways.h the fastest counts.
//
// Immutable after construction; safe to share between threads.
#ifndef PRISM_CORE_HARDWARE_FABRIC_H_
#define PRISM_CORE_HARDWARE_FABRIC_H_

#include <cstdint>
#include <vector>

#include "core/hardware/accelerator.h"
#include "core/hardware/cluster.h"
#include "core/hardware/collective_curve.h"
#include "core/hardware/collective_ways.h"
#include "core/hardware/group_span.h"
#include "core/hardware/link_speeds.h"

namespace prism::hardware {

// Latencies of links whose cluster gives none.
inline constexpr double kNodeLinkLatencySeconds = 0.5e-6;
inline constexpr double kNetworkLatencySeconds = 2.5e-6;

// Level of two GPUs that are one.
inline constexpr int kSameGpu = -1;

class Fabric final {
 public:
  // `levels` of `cluster`, or the links of `accelerator` where it has none.
  // Requires: `cluster` is valid.
  Fabric(const Cluster& cluster, const Accelerator& accelerator,
         const LinkSpeeds& speeds = {});

  // Time of a collective over a group of `shape` as a function of its bytes,
  // which are the whole vector (CurveOf()). For callers that ask often: it
  // takes longer to make than to use.
  CollectiveCurve CurveOf(CollectiveKind kind, const GroupShape& shape) const;

  // The same at once, with its stalls. 0 for one member.
  LinkTime CollectiveTime(CollectiveKind kind, double bytes,
                          const GroupShape& shape) const;

  // Time of one message between two GPUs that `level` joins, while every other
  // GPU sends one as well. Zero for kSameGpu.
  CollectiveCurve TransferCurve(int level) const;
  LinkTime TransferTime(double bytes, int level) const {
    return TransferCurve(level).At(bytes);
  }

  // Innermost level one unit of which holds both GPUs, or kSameGpu.
  int LevelOf(int64_t from, int64_t to) const;

  // The unit of `level` that holds a GPU, from 0 to Units(level) - 1.
  int64_t UnitOf(size_t level, int64_t gpu) const {
    const FabricLevel& link = levels_[level];
    if (link.unit_of_node.empty()) return gpu / link.gpus;
    return link.unit_of_node[static_cast<size_t>(gpu / gpus_per_node_)];
  }
  int64_t Units(size_t level) const;

  const std::vector<FabricLevel>& levels() const { return levels_; }
  int64_t gpus_per_node() const { return gpus_per_node_; }

 private:
  std::vector<FabricLevel> levels_;
  size_t node_levels_;  // the first of them lie inside a node or rack
  int64_t gpus_;
  int64_t gpus_per_node_;
  LinkSpeeds speeds_;
  NodeSpeeds node_speeds_;
  bool in_switch_;
};

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_FABRIC_H_
