// The structured method: composition instead of brute force.
//
// docs/composition.md explains it. In short: the draws inside an operation
// become one (OperationLaw); one replica of each kind is simulated, a vector
// of samples at a time (ReplicaSampler); the maximum over replicas is a
// product of distribution functions (ReplicaMaximum); what all replicas share
// - step-wide factors, the closing collective - is drawn on top of it.
#ifndef PRISM_CORE_STEP_COMPOSITION_STRUCTURED_H_
#define PRISM_CORE_STEP_COMPOSITION_STRUCTURED_H_

#include <absl/status/statusor.h>

#include <optional>

#include "core/step/compiled_graph.h"
#include "core/step/simulate.h"

namespace prism::step {

// Contract of Simulate(). Nothing where the graph's structure is outside what
// the method can bound; the reference method then answers.
std::optional<absl::StatusOr<StepTime>> SimulateStructured(
    const CompiledGraph& compiled, const SimulationOptions& options,
    const base::Budget& budget, base::Executor& executor);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_STRUCTURED_H_
