// Attention of a layer, with what its context group exchanges.
//
// Part of the implementation of operators.h.
#ifndef PRISM_CORE_WORKLOAD_ATTENTION_H_
#define PRISM_CORE_WORKLOAD_ATTENTION_H_

#include "core/workload/operators.h"

namespace prism::workload {

// From queries, keys and values of this GPU to its part of the result, and
// back. The last stretch may be open: what follows may be added to it.
Stretches AttentionForward(const Job& job);
Stretches AttentionBackward(const Job& job);

}  // namespace prism::workload

#endif  // PRISM_CORE_WORKLOAD_ATTENTION_H_
