// What a GPU keeps of one layer's or the head's computation, in bytes.
//
// Pipelines multiply it by what is in flight: core/estimate/memory.h.
//
// Requires of every function: the job is valid.
#ifndef PRISM_CORE_WORKLOAD_ACTIVATION_MEMORY_H_
#define PRISM_CORE_WORKLOAD_ACTIVATION_MEMORY_H_

#include "core/workload/job.h"

namespace prism::workload {

// Of one layer and micro-batch between its forward and its backward.
double KeptLayerBytes(const Job& job, Recompute recompute);

// Of it, what the weight part of a backward still needs once the input part is
// done: inputs of the products, and gradients of their results. With 16 bits
// 32 s b h for a plain transformer without a tensor group (arXiv 2401.10241,
// table 1).
double LayerBytesForWeights(const Job& job);
// The same of the head: its input, and the gradient of the logits.
double HeadBytesForWeights(const Job& job);

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
