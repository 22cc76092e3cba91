// Evaluator: the mean step of many placements of one job.
//
// A replica's mean end is found once for each distinct set of stage slowdowns
// and way of communicating; a placement's step is the mean of the latest of
// its replicas and what follows it. docs/model/placement.md holds it against
// full simulations.
#ifndef PRISM_CORE_PLACEMENT_EVALUATOR_H_
#define PRISM_CORE_PLACEMENT_EVALUATOR_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/budget.h"
#include "core/placement/column_table.h"
#include "core/placement/job_model.h"

namespace prism::placement {

// Of the step of one placement, without what all steps share.
struct StepMoments {
  double mean = 0;
  double variance = 0;
};

// A placement and the replicas it consists of.
struct EvaluatedPlacement {
  Communication communication;
  std::vector<int32_t> columns;  // by replica, in the evaluator's table
  // By stage: closing of the slowest rank, seconds.
  std::vector<double> closing;
  // What the mean end of its late replicas is above their end without chance.
  double gain = 0;
  StepMoments step;
};

// Not thread-safe.
class Evaluator final {
 public:
  // `draw_rows` as of ReplicaResponse::MeanEnds. Requires: `model` outlives it.
  Evaluator(JobModel& model, int draw_rows);

  // In the order given. `measured` as of JobModel::PositionSlowdowns.
  //
  // Errors: those of JobModel; CANCELLED and DEADLINE_EXCEEDED as the budget
  // says.
  absl::StatusOr<std::vector<EvaluatedPlacement>> Evaluate(
      std::span<const NodeList> placements, std::span<const double> measured,
      const base::Budget& budget);

  // Deviation of one replica's end over its mean.
  absl::StatusOr<double> ReplicaDeviation();

 private:
  absl::Status Describe(const NodeList& nodes, std::span<const double> measured,
                        EvaluatedPlacement& placement);
  // End of a replica with a placement's closing.
  double EndOf(const EvaluatedPlacement& placement, const float* clock) const;
  void MarkLatest(const EvaluatedPlacement& placement);
  void Finish(EvaluatedPlacement& placement);

  JobModel& model_;
  ColumnTable columns_;
  double relative_deviation_ = -1;  // not known yet
  // Scratch.
  std::vector<double> position_slowdown_;
  std::vector<float> stage_slowdown_;
  std::vector<std::pair<double, int32_t>> ends_;
};

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_EVALUATOR_H_
