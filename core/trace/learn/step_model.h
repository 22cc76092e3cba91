// StepModel: what unseen steps of a job are drawn from.
//
//   observations -> computes, closing   (tests: what is shared)
//                -> draws of work       (StepSampler)
//                -> a step's seconds    (the recorded step's own graph)
//
// Immutable and thread-safe once learned; docs/model/trace-learning.md.
#ifndef PRISM_CORE_TRACE_LEARN_STEP_MODEL_H_
#define PRISM_CORE_TRACE_LEARN_STEP_MODEL_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/trace/learn/closing_model.h"
#include "core/trace/learn/compute_model.h"
#include "core/trace/learn/compute_table.h"
#include "core/trace/learn/finding.h"
#include "core/trace/learn/observations.h"

namespace prism::trace {

struct StepModel {
  Observations observed;
  ComputeTable table;
  ComputeModel computes;
  ClosingModel closing;
  std::vector<Finding> findings;
  double level = 0;  // of a single test
};

// Errors: those of TabulateComputes.
absl::StatusOr<StepModel> LearnSteps(Observations observed);

struct PredictedSteps {
  // Seconds, ascending.
  std::vector<double> simulated;  // without delays between operations
  std::vector<double> measured;   // with them
};

// The same for the same seed. Requires: samples > 0.
PredictedSteps PredictSteps(const StepModel& model, size_t samples,
                            uint64_t seed);

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_LEARN_STEP_MODEL_H_
