// When the sharded method must stop.
#ifndef PRISM_CORE_STEP_COMPOSITION_SHARDED_BUDGET_H_
#define PRISM_CORE_STEP_COMPOSITION_SHARDED_BUDGET_H_

#include <absl/status/status.h>
#include <absl/time/time.h>

#include "core/base/budget.h"

namespace prism::step {

// Kept back from a deadline for summing up and sending the answer.
inline constexpr absl::Duration kShardedReserve = absl::Milliseconds(4);

// Time left for work; infinite without a deadline.
inline absl::Duration TimeLeft(const base::Budget& budget) {
  return budget.Remaining() - kShardedReserve;
}

// Whether nobody wants the result any more or there is no time left for it.
inline bool IsOver(const base::Budget& budget) {
  return budget.Cancelled() || TimeLeft(budget) <= absl::ZeroDuration();
}

// Why a budget that is over is so, where nothing was simulated.
inline absl::Status OverStatus(const base::Budget& budget) {
  if (budget.Cancelled()) return absl::CancelledError("cancelled");
  return absl::DeadlineExceededError(
      "the deadline passed before any step was simulated");
}

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SHARDED_BUDGET_H_
