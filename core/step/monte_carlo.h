// The reference method: simulate every draw of every rank.
#ifndef PRISM_CORE_STEP_MONTE_CARLO_H_
#define PRISM_CORE_STEP_MONTE_CARLO_H_

#include <absl/status/statusor.h>

#include "core/step/compiled_graph.h"
#include "core/step/simulate.h"

namespace prism::step {

// Contract of Simulate().
absl::StatusOr<StepTime> SimulateMonteCarlo(const CompiledGraph& compiled,
                                            const SimulationOptions& options,
                                            const base::Budget& budget,
                                            base::Executor& executor);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_MONTE_CARLO_H_
