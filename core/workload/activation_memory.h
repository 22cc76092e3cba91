// What a GPU keeps of one layer's or the head's computation, in bytes.
//
// Part of the implementation of memory.h.
#ifndef PRISM_CORE_WORKLOAD_ACTIVATION_MEMORY_H_
#define PRISM_CORE_WORKLOAD_ACTIVATION_MEMORY_H_

#include "core/workload/job.h"

namespace prism::workload {

// Of one layer and micro-batch between its forward and its backward.
double KeptLayerBytes(const Job& job, Recompute recompute);

// Besides that, while the backward of the feed-forward layer is at its height:
// the gradient of the widened activation, two of the residual stream, and what
// the tensor group gathers.
double LayerBackwardBytes(const Job& job);

// Logits of one micro-batch with what the loss adds to them.
double LogitBytes(const Job& job);

// Besides those, while the head is at work: input and output of its norm, and
// what the tensor group gathers.
double HeadInputBytes(const Job& job);

}  // namespace prism::workload

#endif  // PRISM_CORE_WORKLOAD_ACTIVATION_MEMORY_H_
