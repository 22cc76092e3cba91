// The one order of a step's operations that everything relies on.
#ifndef PRISM_CORE_TRACE_STEP_ORDER_H_
#define PRISM_CORE_TRACE_STEP_ORDER_H_

#include <cstdint>

#include "core/trace/trace.h"

namespace prism::trace {

// Sorts by replica, stage, kind and sequence. Operations without a sequence
// get theirs by their starts; of operations that are there twice the first in
// `step` stays. Returns how many were taken out.
int64_t PutInOrder(Step& step);

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_STEP_ORDER_H_
