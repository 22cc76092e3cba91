// Observations: what the workers of some recorded steps took, as a table.
//
// All steps have the operations of the first, one for one; a step that has
// others does not fit in. Work is as core/trace/replay splits it: without
// waiting for others. Plain values, in seconds.
#ifndef PRISM_CORE_TRACE_LEARN_OBSERVATIONS_H_
#define PRISM_CORE_TRACE_LEARN_OBSERVATIONS_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "core/trace/damage.h"
#include "core/trace/replay/recorded_step.h"
#include "core/trace/replay/step_program.h"
#include "core/trace/trace.h"

namespace prism::trace {

struct ObservedStep {
  std::vector<double> work;  // by operation, as RecordedStep::work()
  double replayed_seconds = 0;
  double measured_seconds = 0;
};

struct Observations {
  Sizes sizes;
  std::vector<Operation> operations;  // of every step; times of the first
  StepProgram program;                // of every step
  std::vector<ObservedStep> steps;    // at least two
};

// Gathers steps, of a long trace a fair sample of them. Not thread-safe.
class ObservationGatherer {
 public:
  // Values held, about 32 MB.
  static constexpr size_t kMostHeld = 4'000'000;

  explicit ObservationGatherer(const Sizes& sizes, size_t most_held = kMostHeld)
      : most_held_(most_held) {
    observed_.sizes = sizes;
  }

  // False where the step's operations are not those of the first.
  bool Add(const RecordedStep& step);

  // Errors: FAILED_PRECONDITION with fewer than two steps.
  absl::StatusOr<Observations> Finish() &&;

 private:
  bool Fits(const Step& step) const;

  Observations observed_;
  size_t most_held_;
  size_t seen_ = 0;
  std::mt19937_64 random_{1};
};

// What a replay of the steps numbered `first_step` to `last_step` observes,
// mended and bounded as there. Reads `source` three times. What is wrong with
// steps goes to `damage`, which may be null where a replay logs it.
//
// Errors: those of `source`; FAILED_PRECONDITION with fewer than two steps.
absl::StatusOr<Observations> ObserveTrace(
    StepSource& source, DamageLog* damage, int64_t first_step = 0,
    int64_t last_step = std::numeric_limits<int64_t>::max());

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_LEARN_OBSERVATIONS_H_
