// Nodes by what they cost a job of one kind.
#ifndef PRISM_CORE_PLACEMENT_RANK_NODES_H_
#define PRISM_CORE_PLACEMENT_RANK_NODES_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <vector>

#include "core/base/budget.h"
#include "core/hardware/cluster.h"
#include "core/workload/job.h"

namespace prism::placement {

// Class of nodes that cannot run anything.
inline constexpr int kCannotRunClass = 9999;

struct RankNodesRequest {
  workload::Job job;
  hardware::Cluster cluster;
  std::vector<int64_t> nodes;  // empty: all
  // Width of a class, as a share of the step. Above 0.
  double class_width = 0.01;
  uint64_t random_key = 0;
};

struct RankedNode {
  int64_t node = 0;
  // 0 is the fastest class; kCannotRunClass holds drained and failed nodes.
  int performance_class = 0;
  // Step with this node at a place of the job's, and typical nodes at the
  // others, over the step with typical ones alone; the mean over the places.
  // For the median of what is known of the node.
  double relative_slowdown = 1;
  // Probability that this is above 1 + class_width.
  double straggler_probability = 0;
  hardware::Health health = hardware::Health::kHealthy;
};

// The fastest first; those of the last class behind all others.
//
// Typical is the median of what is known of all healthy nodes. The job need
// not fill them.
//
// Requires: job and cluster are valid and the cluster holds the job.
//
// Errors: CANCELLED; those of estimate::BuildEstimate.
absl::StatusOr<std::vector<RankedNode>> RankNodes(
    const RankNodesRequest& request, const base::Budget& budget);

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_RANK_NODES_H_
