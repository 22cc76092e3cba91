// FLOPs of a step: by convention, and as executed.
//
// Requires of every function: the job is valid.
#ifndef PRISM_CORE_WORKLOAD_FLOPS_H_
#define PRISM_CORE_WORKLOAD_FLOPS_H_

#include "core/workload/job.h"

namespace prism::workload {

// Of one step over all GPUs by the convention of model FLOPs: forward and
// twice that for backward, no recomputation, every score counted. For a plain
// transformer 72 B s L h^2 (1 + s/(6h) + V/(12 h L)) (arXiv 2205.05198).
double ModelFlops(const Job& job);

// Of one GPU of pipeline stage `stage` in one step, recomputation included,
// skipped blocks of causal attention left out.
double ExecutedFlops(const Job& job, int64_t stage);

}  // namespace prism::workload

#endif  // PRISM_CORE_WORKLOAD_FLOPS_H_
