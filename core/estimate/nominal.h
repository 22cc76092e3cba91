// Nominal evaluation: how long a step takes where nothing varies, without
// building its graph.
//
// The answer is that of step::SimulateNominal() on the graph of the same job,
// placed on the first nodes of the cluster with all nodes alike. For searches
// over layouts: one evaluator keeps what layouts have in common.
#ifndef PRISM_CORE_ESTIMATE_NOMINAL_H_
#define PRISM_CORE_ESTIMATE_NOMINAL_H_

#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/calibration/constants.h"
#include "core/estimate/cost.h"
#include "core/estimate/pipeline_clock.h"
#include "core/estimate/placement_shape.h"
#include "core/estimate/step_costs.h"
#include "core/estimate/variation.h"
#include "core/hardware/cluster.h"
#include "core/workload/job.h"

namespace prism::estimate {

struct NominalTime {
  double seconds = 0;
  // Of the stage that ends last; with `bubble` they sum to `seconds`.
  KindSeconds by_kind;
  // What that stage waits.
  double bubble = 0;
};

// Not thread-safe: one per thread.
class NominalEvaluator final {
 public:
  // Requires: `cluster` is valid; what it says of single nodes and paths is
  // left out.
  NominalEvaluator(const workload::Model& model,
                   const hardware::Cluster& cluster,
                   const calibration::Constants& constants = {});

  // Requires: the job of the model is valid and fits the cluster.
  //
  // Errors: those of BuildEstimate().
  absl::StatusOr<NominalTime> Evaluate(const workload::Parallelism& parallelism,
                                       const workload::Training& training);

 private:
  // What layouts have in common is kept under those of their sizes that it
  // depends on.
  using Key = std::array<int64_t, 20>;

  // Seconds of the model's parts, by phase.
  struct Parts {
    std::array<KindSeconds, 2> layer;
    std::array<KindSeconds, 2> embedding;
    std::array<KindSeconds, 2> head;
  };
  // Seconds of transfers to the next stage, and of closings, by stage.
  struct Stages {
    std::vector<double> transfer;
    std::vector<KindSeconds> closing;
  };

  const PlacementShape& ShapeOfJob();
  absl::StatusOr<const Parts*> PartsOfJob(const PlacementShape& shape);
  absl::StatusOr<const Stages*> StagesOfJob(const PlacementShape& shape);
  absl::StatusOr<Stages> CostOfStages(const PlacementShape& shape) const;
  KindSeconds SumOfVirtualStage(const Parts& parts, const Stages& stages,
                                int64_t virtual_stage, size_t phase) const;
  NominalTime Assemble(const Parts& parts, const Stages& stages);

  const hardware::Cluster cluster_;
  const calibration::Constants constants_;
  const Variation variation_;
  workload::Job job_;  // the one at hand
  PipelineClock clock_;
  PipelineTimes times_;
  absl::flat_hash_map<Key, std::unique_ptr<PlacementShape>> shapes_;
  absl::flat_hash_map<Key, std::unique_ptr<Parts>> parts_;
  absl::flat_hash_map<Key, std::unique_ptr<Stages>> stages_;
  Stages uneven_;  // of the job at hand, where its stages are uneven
};

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_NOMINAL_H_
