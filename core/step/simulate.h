// The distribution of a step graph's duration.
#ifndef PRISM_CORE_STEP_SIMULATE_H_
#define PRISM_CORE_STEP_SIMULATE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/step/step_graph.h"
#include "core/step/step_time.h"

namespace prism::step {

struct SimulationOptions {
  Method method = Method::kAuto;
  // Steps to simulate, at least 100. Unset: until the standard error of p50 is
  // at most 0.1% and of p95 at most 0.3%, or `patience` has gone.
  std::optional<int64_t> samples = {};
  absl::Duration patience = absl::Seconds(10);
  // Key of the random streams. Equal keys give equal draws: two placements of
  // one job share a key and are compared under common random numbers.
  uint64_t random_key = 0;
  // What a simplification may cost is judged by the distance of the step's
  // quartiles, or by this where it is wider: that of a step which this one is
  // compared to.
  double compared_spread_seconds = 0;
};

// Simulates `graph`.
//
// The result depends on the graph, the options and the instruction set alone,
// never on the executor's threads; with a budget that runs out, also on time,
// and then `quality` is kReduced.
//
// Errors: INVALID_ARGUMENT where the orders of the stages wait for each other
// in a circle; CANCELLED; DEADLINE_EXCEEDED where the budget ended before 100
// samples; RESOURCE_EXHAUSTED where one step needs more memory than 4 GiB;
// INTERNAL where the result is not finite.
absl::StatusOr<StepTime> Simulate(const StepGraph& graph,
                                  const SimulationOptions& options,
                                  const base::Budget& budget,
                                  base::Executor& executor);

// What the rank that ends last spends the time of a step on.
struct KindTimes {
  // Seconds by StepGraph::kinds, plus "bubble": what the rank waited for
  // others. They sum to the step. Communication beside computation counts as
  // far as computation waited for it.
  std::map<std::string, double> by_kind;
  // How long tasks of each of StepGraph::kinds ran on that rank, beside others
  // or not: at most as much of a kind is hidden as this exceeds `by_kind`.
  std::map<std::string, double> busy_by_kind;

  bool operator==(const KindTimes&) const = default;
};

struct NominalStep : KindTimes {
  double seconds = 0;
};

// The step with every draw and shared factor at its stated mean; slowdown,
// stage scale and path factors kept.
//
// Errors: INVALID_ARGUMENT as of Simulate.
absl::StatusOr<NominalStep> SimulateNominal(const StepGraph& graph);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_SIMULATE_H_
