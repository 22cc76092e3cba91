// Where a job runs best: which nodes, and which ranks on which of them.
//
// Small cases are searched exhaustively; others start from placements that
// follow the fabric and the nodes' speeds and are improved move by move.
// docs/model/placement.md says how, and what the bound promises.
#ifndef PRISM_CORE_PLACEMENT_OPTIMIZE_H_
#define PRISM_CORE_PLACEMENT_OPTIMIZE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/placement/pool.h"
#include "core/placement/score.h"
#include "core/step/step_time.h"

namespace prism::placement {

struct OptimizeRequest {
  workload::Job job;
  hardware::Cluster cluster;
  // Nodes the job may have; empty: all. Those that are drained or failed are
  // left out, degraded ones are taken where the others do not suffice.
  std::vector<int64_t> free_nodes;
  Goal goal;
  Constraints constraints;
  // Another order of the random moves.
  uint64_t seed = 0;
  uint64_t random_key = 0;
};

struct ComparedPlacement {
  std::string name;  // "random", "worst", "given"
  NodeList nodes;
  step::StepTime step_time;
  double ratio = 1;  // its objective over the chosen one's
};

struct OptimizeResult {
  // False where the job does not fit; `infeasible_reason` then says why and
  // nothing else is set.
  bool feasible = true;
  std::string infeasible_reason;

  NodeList nodes;  // in rank order
  step::StepTime step_time;
  std::vector<int64_t> spares;  // the fastest first
  bool exact = false;           // every placement was looked at
  double bound_seconds = 0;     // no placement's objective is below
  double gap = 0;  // what the objective could still lose, as a share of it
  int64_t evaluated = 0;  // placements looked at
  std::vector<ComparedPlacement> compared_with;
  // kReduced where the budget ended the search.
  step::Quality quality = step::Quality::kExact;
};

// Deterministic for one instruction set, request and amount of work; with a
// budget that runs out, the result is the best found until then.
//
// Requires: job and cluster are valid; nodes named are nodes of the cluster.
//
// Errors: CANCELLED; DEADLINE_EXCEEDED where not one placement could be
// evaluated; those of estimate::BuildEstimate and step::Simulate.
absl::StatusOr<OptimizeResult> OptimizePlacement(const OptimizeRequest& request,
                                                 const base::Budget& budget,
                                                 base::Executor& executor);

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_OPTIMIZE_H_
