// A second, plain simulator of runs for the tests: step by step and node by
// node, with a sequential generator, sharing no code with the library but the
// plan and the laws in it. Slow.
#ifndef PRISM_CORE_COMPLETION_REFERENCE_RUN_H_
#define PRISM_CORE_COMPLETION_REFERENCE_RUN_H_

#include <cstdint>
#include <random>
#include <vector>

#include "core/completion/run_plan.h"

namespace prism::completion {

// What a run does not show beforehand.
struct Truth {
  double job_factor = 1;
  double present_factor = 1;            // of the start that is up now
  std::vector<double> node_rates = {};  // per second
};

// Drawn from what the plan says, nothing seen yet.
Truth DrawTruth(const RunPlan& plan, std::mt19937_64& random);

struct ReferenceOutcome {
  double finish_seconds = 0;
  double lost_seconds = 0;
  double waiting_seconds = 0;
  double restart_seconds = 0;  // slow first steps included
  double writing_seconds = 0;
  int64_t failures = 0;
};

// From now to the end, with a checkpoint after each multiple of
// `interval_steps`, 0 for none. Steps are normal.
ReferenceOutcome SimulateReference(const RunPlan& plan, const Truth& truth,
                                   int64_t interval_steps,
                                   std::mt19937_64& random);

// Mean of `steps` steps one after the other.
double TimeSteps(const RunPlan& plan, double factor, int64_t steps,
                 std::mt19937_64& random);

}  // namespace prism::completion

#endif  // PRISM_CORE_COMPLETION_REFERENCE_RUN_H_
