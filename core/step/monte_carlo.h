// The reference method: simulate every draw of every rank.
#ifndef PRISM_CORE_STEP_MONTE_CARLO_H_
#define PRISM_CORE_STEP_MONTE_CARLO_H_

#include <absl/status/statusor.h>

#include <vector>

#include "core/step/compiled_graph.h"
#include "core/step/simulate.h"

namespace prism::step {

// Contract of Simulate().
absl::StatusOr<StepTime> SimulateMonteCarlo(const CompiledGraph& compiled,
                                            const SimulationOptions& options,
                                            const base::Budget& budget,
                                            base::Executor& executor);

struct SimulatedSteps {
  StepTime time;
  std::vector<double> step_seconds;  // by sample
};

// The same, and the steps themselves. `options.samples` may be below 100; so
// many then make an answer.
absl::StatusOr<SimulatedSteps> SimulateSteps(const CompiledGraph& compiled,
                                             const SimulationOptions& options,
                                             const base::Budget& budget,
                                             base::Executor& executor);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_MONTE_CARLO_H_
