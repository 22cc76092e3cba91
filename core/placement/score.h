// Scores of candidate placements: how long the step of one job takes on each
// of them, and which cannot be told apart.
//
// All candidates are compared under common draws, of noise and of what is not
// known of the nodes. How, and how exactly: docs/model/placement.md.
#ifndef PRISM_CORE_PLACEMENT_SCORE_H_
#define PRISM_CORE_PLACEMENT_SCORE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <vector>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/hardware/cluster.h"
#include "core/placement/job_model.h"
#include "core/step/step_time.h"
#include "core/workload/job.h"

namespace prism::placement {

enum class Objective { kMean, kQuantile };

struct Goal {
  Objective objective = Objective::kMean;
  double risk_quantile = 0.95;  // within (0, 1); of kQuantile
};

// The value of the goal for a law.
double ObjectiveOf(const step::StepTime& law, const Goal& goal);

struct ScoreRequest {
  workload::Job job;
  hardware::Cluster cluster;
  // Each as many different nodes of the cluster as the job takes, in rank
  // order. At least one.
  std::vector<NodeList> placements;
  Goal goal;
  // Equal keys give equal draws: what-ifs are asked with the key of the
  // question.
  uint64_t random_key = 0;
};

struct ScoredPlacement {
  // 100 for the best, 0 for twice its objective or more; equal within a group.
  double score = 0;
  step::StepTime step_time;
  // Share of what may be true of the nodes under which this one is the best.
  double probability_best = 0;
  // Candidates of one group cannot be told apart; 0 is the best group.
  int tied_group = 0;
  double difference_seconds = 0;        // of the objective, to the best
  double difference_error_seconds = 0;  // its standard error
  // Given up as hopeless, or never reached; the numbers are coarse.
  bool stopped_early = false;
};

struct ScoreResult {
  // In the order of the request.
  std::vector<ScoredPlacement> placements;
  // kReduced where the budget ended before all was done.
  step::Quality quality = step::Quality::kExact;
};

// Deterministic for one instruction set; with a budget that runs out, the
// quality depends on time.
//
// Requires: job and cluster are valid and the placements fit them.
//
// Errors: CANCELLED; DEADLINE_EXCEEDED where not one candidate could be
// evaluated; those of estimate::BuildEstimate and step::Simulate.
absl::StatusOr<ScoreResult> ScorePlacements(const ScoreRequest& request,
                                            const base::Budget& budget,
                                            base::Executor& executor);

// The same for a model that is already there.
absl::StatusOr<ScoreResult> ScorePlacements(
    JobModel& model, const std::vector<NodeList>& placements, const Goal& goal,
    const base::Budget& budget, base::Executor& executor);

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_SCORE_H_
