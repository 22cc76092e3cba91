// How well unseen steps of a trace are predicted: its steps are split into
// halves at random, one is learned from and the other predicted.
#ifndef PRISM_CORE_TRACE_LEARN_HALVES_H_
#define PRISM_CORE_TRACE_LEARN_HALVES_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>

#include "core/trace/learn/observations.h"

namespace prism::trace {

// Means over the splits.
struct HalvesError {
  // Absolute error of the p95 of the unseen half, as a share of it.
  double p95 = 0;
  // Kolmogorov-Smirnov distance to the unseen half.
  double distance = 0;
};

struct HalvesCheck {
  HalvesError predicted;
  // Of the learned half's own steps, taken for the unseen ones.
  HalvesError known;
};

struct HalvesResult {
  HalvesCheck simulated;  // steps as replayed, without delays
  HalvesCheck measured;   // steps as recorded
};

struct HalvesOptions {
  size_t splits = 10;
  size_t samples = 4000;  // drawn for each
  uint64_t seed = 1;
};

// Errors: FAILED_PRECONDITION with fewer than four steps; those of LearnSteps.
absl::StatusOr<HalvesResult> CheckByHalves(const Observations& observed,
                                           const HalvesOptions& options = {});

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_LEARN_HALVES_H_
