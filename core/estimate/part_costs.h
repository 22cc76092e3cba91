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
  // The backward as a schedule runs it that splits it (workload/operators.h);
  // by kind they sum to `backward`. A collective that runs beside a product
  // of the other part is taken to do so still.
  CostedTasks backward_input;
  CostedTasks backward_weight;
};

struct ModelCosts {
  PartCosts layer;             // nothing or its scores alone computed again
  PartCosts recomputed_layer;  // all of it; where recomputation is full
  PartCosts embedding;
  PartCosts head;
};

// Operators and their collectives, without what the data group exchanges in
// operations; where a backward is split that is nothing.
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

// Which parts a virtual stage runs. Where some micro-batches compute layers
// again and others do not, each takes their mean.
struct StageParts {
  double layers = 0;  // not computed again whole
  double recomputed_layers = 0;
  bool embedding = false;
  bool head = false;
  double offloaded_bytes = 0;  // to the host, and back

  auto operator<=>(const StageParts&) const = default;
};
StageParts PartsOf(const workload::Job& job, int64_t virtual_stage);

// What is left of moving `bytes` between a GPU and its host beside
// `window_seconds` of a forward or backward. One direction; the link carries
// both at once.
CostedTasks LeftOfOffload(double bytes, double window_seconds,
                          const calibration::Constants& constants);

// A transfer over boundary `stage` (workload::BoundaryBehind). It holds its
// sender up unless pipeline traffic is overlapped.
CostedTask CostOfTransfer(const Cost& cost, int64_t stage);

// The framework's own work around one operation; may be nothing.
CostedTasks CostOfHostOperation(const workload::Job& job,
                                const calibration::Constants& constants);

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_PART_COSTS_H_
