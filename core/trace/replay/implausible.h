// Operations whose recorded times cannot be right.
//
// A damaged digit leaves a number a number. It shows where
//
//   an operation begins before one of its worker and kind with a lower
//   sequence, which counts starts, or
//   it begins or ends far from all else in the step, more than 50 times the
//   median distance from the median start, on less than half of the workers:
//   where a job hangs, all wait.
//
// Pure functions.
#ifndef PRISM_CORE_TRACE_REPLAY_IMPLAUSIBLE_H_
#define PRISM_CORE_TRACE_REPLAY_IMPLAUSIBLE_H_

#include <cstdint>

#include "core/trace/trace.h"

namespace prism::trace {

// Takes them out of `step`, which is in order and stays so; returns how many.
int64_t TakeOutImplausible(Step& step);

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_REPLAY_IMPLAUSIBLE_H_
