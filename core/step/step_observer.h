// StepObserver: sees what a simulation does, when it does it.
//
// For who wants to know more of a few steps than when they end: timelines.
// Rows are those of the simulators, [lane][element] with the stride of the
// block's elements, in seconds from the beginning of the step; they hold for
// the length of the call. Observing changes no number.
#ifndef PRISM_CORE_STEP_STEP_OBSERVER_H_
#define PRISM_CORE_STEP_STEP_OBSERVER_H_

#include "core/step/elements.h"
#include "core/step/execution_plan.h"
#include "core/step/step_graph.h"

namespace prism::step {

// Called from the thread that simulates.
class StepObserver {
 public:
  virtual ~StepObserver() = default;

  // What follows is of these elements, which outlive the block.
  virtual void BlockBegins(const Elements& elements) = 0;

  // `free` is when each rank was done with what it ran before, `arrival` when
  // what the operation waits for was there, or null where it waits for
  // nothing. It begins at the later of both.
  virtual void OperationBegins(const PlannedOperation& planned,
                               const double* free, const double* arrival) = 0;

  // `end` is when each rank is done with it, `arrival` when what it sends is
  // there, or null where it sends nothing.
  virtual void OperationEnds(const PlannedOperation& planned, const double* end,
                             const double* arrival) = 0;

  // The closing of a stage, between the clocks of its ranks.
  virtual void ClosingBegins(int stage, const double* begin) = 0;
  virtual void ClosingEnds(int stage, const double* end) = 0;

  // A task of the operation or closing that has begun and not ended. `ready`
  // is when each rank alone could have run it; the members of a group run it
  // from the latest of theirs.
  virtual void TaskEnds(const Task& task, const double* ready,
                        const double* end) = 0;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_STEP_OBSERVER_H_
