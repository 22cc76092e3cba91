// ListScheduler: an order made by giving each stage, whenever it is free, the
// best operation that can run.
//
// Never stops half-way: a forward is begun only where the stage has room for
// the later chunks of the same micro-batch, so the oldest micro-batch can
// always go on.
#ifndef PRISM_CORE_STEP_SCHEDULES_LIST_SCHEDULER_H_
#define PRISM_CORE_STEP_SCHEDULES_LIST_SCHEDULER_H_

#include <absl/status/statusor.h>

#include <limits>
#include <vector>

#include "core/step/schedules/activation_memory.h"
#include "core/step/schedules/nominal_run.h"
#include "core/step/schedules/pipeline_order.h"

namespace prism::step {

struct ListPolicy {
  // Most activations a stage may keep, in the unit of the sizes.
  double memory = std::numeric_limits<double>::infinity();
  // Most micro-batches begun and not yet back on the first virtual stage of
  // stage s: reach * (stages - s), rounded down, at least 1. Infinite: as many
  // as memory holds.
  double reach = std::numeric_limits<double>::infinity();
  // A weight part runs while nothing else can start within this share of its
  // time. 0: it yields to what can start at once alone.
  double patience = 0;
  // Of a forward and a backward that can start at the same time, which runs.
  bool forwards_first = false;
};

// Backwards are run in two parts. `placement`: an order without operations, of
// one chain.
//
// Requires: times and sizes of its virtual stages.
// Errors: RESOURCE_EXHAUSTED if a stage has no room for one micro-batch.
absl::StatusOr<PipelineOrder> ListSchedule(
    PipelineOrder placement, const OperationTimes& times,
    const std::vector<ActivationSize>& sizes, const ListPolicy& policy);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_SCHEDULES_LIST_SCHEDULER_H_
