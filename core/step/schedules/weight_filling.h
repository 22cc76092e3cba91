// Weight parts moved to where a stage would wait.
#ifndef PRISM_CORE_STEP_SCHEDULES_WEIGHT_FILLING_H_
#define PRISM_CORE_STEP_SCHEDULES_WEIGHT_FILLING_H_

#include <absl/status/statusor.h>

#include <vector>

#include "core/step/schedules/activation_memory.h"
#include "core/step/schedules/nominal_run.h"
#include "core/step/schedules/pipeline_order.h"

namespace prism::step {

// `order` with its forwards and backwards as they are and its weight parts,
// oldest first, where they delay nothing: while the stage waits for what
// comes next, and where a forward would else exceed `memory`. A weight part
// that would end after the arrival of what comes next starts if at most
// `overrun` of its time is left then; 0 to never delay anything.
//
// Exceeds `memory` (in the unit of the sizes) only where the forwards and
// backwards of `order` do so even with every weight part run at once.
//
// Requires: a valid order that runs every backward as its two parts.
PipelineOrder FillWithWeights(const PipelineOrder& order,
                              const OperationTimes& times,
                              const std::vector<ActivationSize>& sizes,
                              double memory, double overrun);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_SCHEDULES_WEIGHT_FILLING_H_
