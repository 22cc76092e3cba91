// Estimate: joins job, cluster and placement into a step graph.
//
// The only part of the model that knows both workload and hardware.
#ifndef PRISM_CORE_ESTIMATE_ESTIMATE_H_
#define PRISM_CORE_ESTIMATE_ESTIMATE_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "core/calibration/constants.h"
#include "core/estimate/memory.h"
#include "core/estimate/placement.h"
#include "core/estimate/placement_shape.h"
#include "core/estimate/variation.h"
#include "core/hardware/cluster.h"
#include "core/step/step_graph.h"
#include "core/workload/job.h"

namespace prism::estimate {

struct Estimate {
  step::StepGraph graph;
  // Of the fullest GPU.
  MemoryUse memory;
  double memory_capacity_bytes = 0;
  // Memory that fits. When false, `infeasible_reason` names the need, the
  // capacity and what to change.
  bool feasible = true;
  std::string infeasible_reason;

  // Of one step over all GPUs, by the convention of "model FLOPs": no
  // recomputation, full attention.
  double model_flops = 0;
  // Peak FLOP/s of one GPU at the job's precision.
  double peak_flops_per_gpu = 0;
  // No step can be shorter: executed FLOPs of the busiest stage over peak.
  double floor_seconds = 0;
  // Assumptions the reader should know of.
  std::vector<std::string> notes;
};

// Requires: `job`, `cluster` and `placement` are valid and fit each other.
//
// Errors: INTERNAL where a nominal operator time lies below its floor.
absl::StatusOr<Estimate> BuildEstimate(
    const workload::Job& job, const hardware::Cluster& cluster,
    const Placement& placement, const calibration::Constants& constants = {},
    const Variation& variation = {});

// The same for all placements of one shape: the graph has no slowdowns
// (RankSlowdowns() gives them).
absl::StatusOr<Estimate> BuildShapeEstimate(
    const workload::Job& job, const hardware::Cluster& cluster,
    PlacementShape shape, const calibration::Constants& constants = {},
    const Variation& variation = {});

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_ESTIMATE_H_
