// Part costs: the parts of a model, and which of them a virtual stage runs.
//
// A step is few parts, many times: a layer, the embedding, the head, each
// forward and backward, with transfers between stages.
#ifndef PRISM_CORE_ESTIMATE_PART_COSTS_H_
#define PRISM_CORE_ESTIMATE_PART_COSTS_H_

#include <absl/status/statusor.h>

#include <cstdint>

#include "core/estimate/cost.h"
#include "core/estimate/costed_task.h"
#include "core/estimate/overlap.h"
#include "core/workload/job.h"

namespace prism::estimate {

// A part of the model, forward and backward, on one GPU and for one
// micro-batch.
struct PartCosts {
  CostedTasks forward;
  CostedTasks backward;
};

struct ModelCosts {
  PartCosts layer;             // nothing or its scores alone computed again
  PartCosts recomputed_layer;  // all of it; where recomputation is full
  PartCosts embedding;
  PartCosts head;
};

// Operators and their collectives, without what the data group exchanges.
// Factor `slowdown` stretches the GPUs' kernels.
//
// Errors: those of `cost`.
absl::StatusOr<ModelCosts> CostOfOperators(const workload::Job& job,
                                           const Cost& cost, double slowdown);

// What a part exchanges with the data group in each forward and backward.
struct PartTraffic {
  Traffic forward_gather;
  Traffic backward_gather;
  Traffic reduction;
};
struct ModelTraffic {
  PartTraffic layer;
  PartTraffic embedding;
  PartTraffic head;
};
ModelTraffic TrafficOfModel(const workload::Job& job, const Cost& cost);

// What is left of it beside a forward, or a backward, of `window_seconds`.
hardware::LinkTime LeftOfForward(const workload::Job& job,
                                 const PartTraffic& traffic,
                                 double window_seconds,
                                 const calibration::OverlapCosts& overlap);
hardware::LinkTime LeftOfBackward(const workload::Job& job,
                                  const PartTraffic& traffic,
                                  double window_seconds,
                                  const calibration::OverlapCosts& overlap);

// All of it.
absl::StatusOr<ModelCosts> CostOfModel(const workload::Job& job,
                                       const Cost& cost, double slowdown);

// What collectives of one group, all of stage `stage`, cost together.
Traffic TrafficOf(const std::vector<workload::Collective>& collectives,
                  const Cost& cost, int64_t stage);

// Which parts a virtual stage runs.
struct StageParts {
  int64_t layers = 0;  // not computed again whole
  int64_t recomputed_layers = 0;
  bool embedding = false;
  bool head = false;

  auto operator<=>(const StageParts&) const = default;
};
StageParts PartsOf(const workload::Job& job, int64_t virtual_stage);

// A transfer over the boundary behind `stage`. It holds its sender up unless
// pipeline traffic is overlapped.
CostedTask CostOfTransfer(const Cost& cost, int64_t stage);

// The framework's own work around one operation; may be nothing.
CostedTasks CostOfHostOperation(const workload::Job& job,
                                const calibration::Constants& constants);

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_PART_COSTS_H_
