// The structured method for steps whose replicas wait for each other.
//
// docs/composition.md explains it. In short: after a barrier of all replicas
// the clocks of a lane are equal, so the state of a step is one clock a lane.
// What a stretch between barriers adds is the maximum over replicas of their
// own work, known by powers and products of distribution functions; stretches
// in a row are summed by cumulants or characteristic functions; lanes that
// meet and loads that replicas keep for a micro-batch are sampled on top.
#ifndef PRISM_CORE_STEP_COMPOSITION_SHARDED_H_
#define PRISM_CORE_STEP_COMPOSITION_SHARDED_H_

#include <absl/status/statusor.h>

#include <optional>

#include "core/step/compiled_graph.h"
#include "core/step/simulate.h"

namespace prism::step {

// Contract of Simulate(). Nothing where the graph's structure is outside what
// the method can bound; the reference method then answers.
std::optional<absl::StatusOr<StepTime>> SimulateSharded(
    const CompiledGraph& compiled, const SimulationOptions& options,
    const base::Budget& budget, base::Executor& executor);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SHARDED_H_
