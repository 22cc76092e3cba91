// How a model's layers lie on the virtual stages of a pipeline.
//
// Requires of every function: the job is valid.
#ifndef PRISM_CORE_WORKLOAD_STAGES_H_
#define PRISM_CORE_WORKLOAD_STAGES_H_

#include <cstdint>

#include "core/workload/job.h"

namespace prism::workload {

// Layers of virtual stage `u`, chunk * pipeline + stage.
int64_t LayersOfVirtualStage(const Job& job, int64_t u);

// Those of them that are computed again whole; none unless recomputation is
// full.
int64_t RecomputedLayers(const Job& job, int64_t u);

// Layers of all virtual stages of pipeline stage `stage`.
int64_t LayersOfStage(const Job& job, int64_t stage);

}  // namespace prism::workload

#endif  // PRISM_CORE_WORKLOAD_STAGES_H_
