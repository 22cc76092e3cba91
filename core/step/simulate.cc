#include "core/step/simulate.h"

#include <cmath>

#include "core/step/compiled_graph.h"
#include "core/step/composition/sharded.h"
#include "core/step/composition/structured.h"
#include "core/step/monte_carlo.h"

namespace prism::step {
namespace {

// Whether every number is one that a duration can be.
bool IsPossible(const StepTime& time) {
  bool possible = std::isfinite(time.mean_seconds) &&
                  std::isfinite(time.standard_deviation_seconds);
  for (double seconds : time.quantile_seconds) {
    possible = possible && std::isfinite(seconds) && seconds >= 0;
  }
  return possible;
}

absl::StatusOr<StepTime> SimulateBy(Method method,
                                    const CompiledGraph& compiled,
                                    const SimulationOptions& options,
                                    const base::Budget& budget,
                                    base::Executor& executor) {
  // Nothing is known of streams, and of a continuous run's period, but what
  // samples tell.
  const bool has_structure =
      !compiled.has_streams && !compiled.graph->is_continuous();
  if (method == Method::kAuto && has_structure) {
    auto time = compiled.replicas_interact
                    ? SimulateSharded(compiled, options, budget, executor)
                    : SimulateStructured(compiled, options, budget, executor);
    // Laws of a few huge values can break an approximation.
    if (time.has_value() && (!time->ok() || IsPossible(**time))) {
      return *std::move(time);
    }
  }
  return SimulateMonteCarlo(compiled, options, budget, executor);
}

}  // namespace

absl::StatusOr<StepTime> Simulate(const StepGraph& graph,
                                  const SimulationOptions& options,
                                  const base::Budget& budget,
                                  base::Executor& executor) {
  auto compiled = Compile(graph);
  if (!compiled.ok()) return compiled.status();
  auto time = SimulateBy(options.method, *compiled, options, budget, executor);
  if (time.ok() && !IsPossible(*time)) {
    return absl::InternalError("the simulated step time is not finite");
  }
  return time;
}

}  // namespace prism::step
