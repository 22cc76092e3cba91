// Pipeline schedules: in which order a stage runs its operations.
//
// Virtual stage u of p * v lies on stage u mod p and is that stage's chunk
// u div p. Orders are those of docs/step-profile.md, section 4.
#ifndef PRISM_CORE_STEP_SCHEDULE_H_
#define PRISM_CORE_STEP_SCHEDULE_H_

#include <vector>

#include "core/step/step_graph.h"

namespace prism::step {

enum class ScheduleKind { kGpipe, kOneForwardOneBackward, kInterleaved };

// The operations of every stage, in order.
//
// Requires: all sizes at least 1; chunks > 1 for kInterleaved alone, which
// needs stages > 1 and microbatches divisible by stages.
std::vector<std::vector<Operation>> StageOrders(ScheduleKind kind, int stages,
                                                int chunks, int microbatches);

// Most micro-batches whose forward has begun on `stage` and whose backward has
// not ended, counted in chunks: what activations must be kept for.
int PeakChunksInFlight(const std::vector<Operation>& stage_order);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_SCHEDULE_H_
