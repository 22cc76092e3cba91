// A race of candidates over scenarios: few scenarios for all, more for those
// that can still be the best.
#ifndef PRISM_CORE_PLACEMENT_RACE_H_
#define PRISM_CORE_PLACEMENT_RACE_H_

#include <absl/status/statusor.h>

#include <span>
#include <vector>

#include "core/base/budget.h"
#include "core/placement/evaluator.h"
#include "core/placement/scenarios.h"
#include "core/step/step_time.h"

namespace prism::placement {

// Standard error of the difference of two evaluated means, as a share of the
// step: against full simulations on the same draws (docs/model/placement.md).
inline constexpr double kModelError = 1.5e-4;

struct RaceResult {
  // By candidate: mean step by scenario, for as many scenarios as it saw.
  std::vector<std::vector<double>> scenario_means;
  // Mean over scenarios; of one that was stopped as far as it is behind the
  // best of those it saw.
  std::vector<double> mean;
  // Share of the scenarios in which it is first; those within kModelError of
  // the first share it.
  std::vector<double> probability_best;
  std::vector<char> stopped;
  // kReduced where the budget ended the race.
  step::Quality quality = step::Quality::kExact;

  // Standard error of the difference of two candidates' means over scenarios.
  double ErrorOfDifference(size_t a, size_t b) const;
};

// Requires: placements and evaluations correspond and are not empty; they hold
// doubtful nodes.
//
// Errors: CANCELLED; DEADLINE_EXCEEDED where not one round was run.
absl::StatusOr<RaceResult> RaceScenarios(
    JobModel& model, const Scenarios& scenarios,
    std::span<const NodeList> placements,
    std::span<const EvaluatedPlacement> evaluated, double relative_deviation,
    const base::Budget& budget);

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_RACE_H_
