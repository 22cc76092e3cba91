// Budgets: what one that has run out is as a status, and one that ends early to
// leave time for what comes after.
#ifndef PRISM_CORE_PLACEMENT_BUDGETS_H_
#define PRISM_CORE_PLACEMENT_BUDGETS_H_

#include <absl/status/status.h>

#include "core/base/budget.h"

namespace prism::placement {

// OK, CANCELLED or DEADLINE_EXCEEDED. Thread-safe.
inline absl::Status StatusOf(const base::Budget& budget) {
  if (budget.Cancelled()) return absl::CancelledError("cancelled");
  if (budget.Remaining() <= absl::ZeroDuration()) {
    return absl::DeadlineExceededError("the deadline has passed");
  }
  return absl::OkStatus();
}

// `budget`, ended `reserve` before its deadline. Thread-safe.
class EarlyBudget final : public base::Budget {
 public:
  // Requires: `budget` outlives it.
  EarlyBudget(const base::Budget& budget, absl::Duration reserve)
      : budget_(budget), reserve_(reserve) {}

  bool Cancelled() const override { return budget_.Cancelled(); }
  absl::Duration Elapsed() const override { return budget_.Elapsed(); }
  absl::Duration Remaining() const override {
    return budget_.Remaining() - reserve_;
  }

 private:
  const base::Budget& budget_;
  const absl::Duration reserve_;
};

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_BUDGETS_H_
