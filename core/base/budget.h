// Budget: how long a computation may go on.
//
// The core has no clock. Whoever asks injects one: the server from the call's
// deadline and cancellation, the command line from its own limit, a test from
// a script. Long loops poll the budget every millisecond of work or so.
#ifndef PRISM_CORE_BASE_BUDGET_H_
#define PRISM_CORE_BASE_BUDGET_H_

#include <absl/time/time.h>

namespace prism::base {

// Thread-safe: every method may be called from any thread at any time.
class Budget {
 public:
  virtual ~Budget() = default;

  // True once nobody wants the result any more. Never turns false again.
  virtual bool Cancelled() const = 0;

  // Time since the computation began.
  virtual absl::Duration Elapsed() const = 0;

  // Time left before an answer must be there; absl::InfiniteDuration() where
  // there is no deadline, zero or negative when it has passed.
  virtual absl::Duration Remaining() const = 0;
};

// Never cancelled, no deadline, and no time passes: for callers that fix the
// amount of work instead.
class UnlimitedBudget final : public Budget {
 public:
  bool Cancelled() const override { return false; }
  absl::Duration Elapsed() const override { return absl::ZeroDuration(); }
  absl::Duration Remaining() const override { return absl::InfiniteDuration(); }
};

// Leaves a share of the time that is left for what comes after.
class PartOfBudget final : public Budget {
 public:
  // `part` of what remains of `whole`, which outlives this.
  PartOfBudget(const Budget& whole, double part)
      : whole_(whole), kept_back_(whole.Remaining() * (1 - part)) {}

  bool Cancelled() const override { return whole_.Cancelled(); }
  absl::Duration Elapsed() const override { return whole_.Elapsed(); }
  absl::Duration Remaining() const override {
    const absl::Duration remaining = whole_.Remaining();
    return remaining == absl::InfiniteDuration() ? remaining
                                                 : remaining - kept_back_;
  }

 private:
  const Budget& whole_;
  const absl::Duration kept_back_;
};

}  // namespace prism::base

#endif  // PRISM_CORE_BASE_BUDGET_H_
