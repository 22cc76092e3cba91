// Where virtual stages lie, and the pieces that generators are made of.
#ifndef PRISM_CORE_STEP_SCHEDULES_PLACEMENT_H_
#define PRISM_CORE_STEP_SCHEDULES_PLACEMENT_H_

#include "core/step/schedules/pipeline_order.h"

namespace prism::step {

// Virtual stage u on stage u mod p; no operations yet.
PipelineOrder LoopedPlacement(int stages, int chunks, int microbatches);

// Virtual stages s and 2p - 1 - s on stage s; no operations yet.
PipelineOrder VPlacement(int stages, int microbatches);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_SCHEDULES_PLACEMENT_H_
