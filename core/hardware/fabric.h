// Fabric: how fast a cluster's links carry collectives.
//
// Links form nested levels (GPUs of a node, nodes of a leaf, leaves of a pod).
// A group's members lie in units of each level. What leaves a unit of the
// innermost goes over the links of all members there, each with the rate of one
// GPU at every level it crosses, divided by that level's oversubscription, as
// if everybody sent; the slowest decides. Formulas are those of ring and tree
// algorithms (R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective
// communication operations in MPICH", 2005); the faster algorithm counts.
//
// Immutable after construction; safe to share between threads.
#ifndef PRISM_CORE_HARDWARE_FABRIC_H_
#define PRISM_CORE_HARDWARE_FABRIC_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "core/hardware/accelerator.h"
#include "core/hardware/cluster.h"

namespace prism::hardware {

// How the members of a group lie in the fabric; GroupShaper finds it.
struct GroupShape {
  int64_t members = 1;
  // By level: fewest members in a unit of that level that holds any; the last
  // is `members`.
  std::vector<int64_t> in_unit;

  auto operator<=>(const GroupShape&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const GroupShape& shape) {
    return H::combine(std::move(h), shape.members, shape.in_unit);
  }
};

enum class CollectiveKind { kAllGather, kReduceScatter, kAllReduce };

// A time, and the part of it that does not depend on the size.
struct LinkTime {
  double seconds = 0;
  double latency_seconds = 0;
};

// What links' data sheets do not say. What each was measured or fitted on:
// docs/model/hardware.md.
struct LinkSpeeds {
  // Start of a collective or transfer.
  double launch_seconds = 8e-6;
  // Share of a link's rate that endless messages reach.
  double efficiency = 0.83;
  // The same for one message between two GPUs of different nodes, which one
  // library channel carries.
  double transfer_efficiency = 0.50;
  // Efficiency falls to efficiency / (1 + (ramp x rate / bytes)^exponent).
  double ramp_seconds = 21e-6;
  double ramp_exponent = 0.42;
};

// Latencies of links whose cluster gives none.
inline constexpr double kNodeLinkLatencySeconds = 0.5e-6;
inline constexpr double kNetworkLatencySeconds = 5e-6;

// Level of two GPUs that are one.
inline constexpr int kSameGpu = -1;

class Fabric final {
 public:
  // `levels` of `cluster`, or the links of `accelerator` where it has none.
  // Requires: `cluster` is valid.
  Fabric(const Cluster& cluster, const Accelerator& accelerator,
         const LinkSpeeds& speeds = {});

  // Time of a collective over a group of `shape`, `bytes` being the whole
  // vector (of each member's result for all-gather and all-reduce, of its
  // input for reduce-scatter). 0 for one member.
  LinkTime CollectiveTime(CollectiveKind kind, double bytes,
                          const GroupShape& shape) const;

  // Time of one message of `bytes` between two GPUs that `level` joins, while
  // every other GPU sends one as well. 0 for kSameGpu.
  LinkTime TransferTime(double bytes, int level) const;

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
  LinkTime RingTime(CollectiveKind kind, double bytes,
                    const GroupShape& shape) const;
  LinkTime TreeTime(double bytes, const GroupShape& shape) const;
  LinkTime LevelByLevelTime(CollectiveKind kind, double bytes,
                            const GroupShape& shape) const;
  // Rate at which one ring or tree passes `bytes` through all levels it uses.
  double SharedRate(double bytes, const GroupShape& shape) const;
  double RateOf(size_t level, double sharers, double bytes) const;
  double TransferRate(size_t level, double bytes) const;
  double LatencyOf(const GroupShape& shape) const;

  std::vector<FabricLevel> levels_;
  int64_t gpus_;
  int64_t gpus_per_node_;
  LinkSpeeds speeds_;
};

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_FABRIC_H_
