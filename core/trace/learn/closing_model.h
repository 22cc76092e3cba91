// ClosingModel: what is drawn once in a step, and what it is drawn with.
//
// The collectives around a step's computes, its optimizer and what passed
// between operations that a replay runs without a break. Each is drawn as
// observed, by itself or in the step that others are drawn from: a stall of
// one collective stays a stall of all that shared it.
#ifndef PRISM_CORE_TRACE_LEARN_CLOSING_MODEL_H_
#define PRISM_CORE_TRACE_LEARN_CLOSING_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/trace/learn/compute_model.h"
#include "core/trace/learn/finding.h"
#include "core/trace/learn/observations.h"

namespace prism::trace {

// Draws of its own: a unit without a step draw.
inline constexpr int kOwnStep = -1;

// Operations that take their values from one observed step.
struct ClosingUnit {
  std::vector<int32_t> operations;
  int step_draw = kOwnStep;  // which of the step draws, or its own
};

// Point-to-point operations of one worker and kind, a range of operations:
// each takes the value of any, in any step.
struct TransferPool {
  int32_t first = 0;
  int32_t count = 0;
};

struct ClosingModel {
  int step_draws = 0;
  std::vector<ClosingUnit> units;
  std::vector<TransferPool> transfers;
  int compute_draw = 0;  // the step draw of the computes' step effects
  int delay_draw = 0;    // of measured less replayed seconds
};

// Tests that LearnClosing makes.
size_t ClosingTests();

ClosingModel LearnClosing(const Observations& observed,
                          const ComputeModel& computes, Judge& judge);

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_LEARN_CLOSING_MODEL_H_
