// The best checkpoint interval of a plan.
#ifndef PRISM_CORE_COMPLETION_CHECKPOINT_CHOICE_H_
#define PRISM_CORE_COMPLETION_CHECKPOINT_CHOICE_H_

#include <cstdint>

#include "core/completion/run_plan.h"

namespace prism::completion {

struct CheckpointChoice {
  // What the run uses, by the plan's choice: a checkpoint each so many steps,
  // 0 for none. Long enough for the write before to have ended.
  int64_t steps = 0;
  double seconds = 0;  // of average work; infinite for none
  // Least expected time for the work, over the law of the failure rate; at
  // least one step. Infinite where nothing fails.
  double best_seconds = 0;
  // sqrt(2 w / L) at the mean rate. Infinite where nothing fails.
  double first_order_seconds = 0;
};

// Takes microseconds. Thread-safe.
CheckpointChoice ChooseCheckpoints(const RunPlan& plan);

}  // namespace prism::completion

#endif  // PRISM_CORE_COMPLETION_CHECKPOINT_CHOICE_H_
