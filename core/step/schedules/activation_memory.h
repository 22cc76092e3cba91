// What activations a stage keeps at most, for any pipeline order.
//
// Exact: a stage runs one operation at a time, so its order alone says when
// activations come and go, whatever the operations take.
#ifndef PRISM_CORE_STEP_SCHEDULES_ACTIVATION_MEMORY_H_
#define PRISM_CORE_STEP_SCHEDULES_ACTIVATION_MEMORY_H_

#include <vector>

#include "core/step/schedules/pipeline_order.h"

namespace prism::step {

// Of one micro-batch on one virtual stage; in bytes or in any other unit.
struct ActivationSize {
  // From the start of its forward to the end of its backward.
  double whole = 1;
  // What its weight part still needs: from the end of the backward's input
  // part to the end of the weight part. At most `whole`; of no account where
  // both are one operation.
  double for_weight = 1;
};

// Stage -> most that it keeps at one time.
//
// Requires: a complete order (see Validate()); one size for each virtual stage.
std::vector<double> PeakActivations(const PipelineOrder& order,
                                    const std::vector<ActivationSize>& sizes);

// The same with one size for every virtual stage: 1 / (virtual stages a stage
// runs for a micro-batch), so that a micro-batch whose forwards have all run
// on a stage counts as 1. `for_weight` is the share the weight part needs.
std::vector<double> PeakMicrobatches(const PipelineOrder& order,
                                     double for_weight);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_SCHEDULES_ACTIVATION_MEMORY_H_
