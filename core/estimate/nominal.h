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
#include <utility>
#include <vector>

#include "core/calibration/constants.h"
#include "core/estimate/closing_costs.h"
#include "core/estimate/costed_task.h"
#include "core/estimate/job_order.h"
#include "core/estimate/part_costs.h"
#include "core/estimate/pipeline_clock.h"
#include "core/estimate/placement_shape.h"
#include "core/estimate/variation.h"
#include "core/hardware/cluster.h"
#include "core/step/schedules/nominal_run.h"
#include "core/step/schedules/pipeline_order.h"
#include "core/workload/job.h"

namespace prism::estimate {

struct NominalTime {
  double seconds = 0;
  // Of the stage that ends last; with `bubble` they sum to `seconds`.
  KindSeconds by_kind;
  // What that stage waits, for transfers that hold nobody up as well.
  double bubble = 0;
};

// Not thread-safe: one per thread.
class NominalEvaluator final {
 public:
  // Requires: `cluster` is valid; what it says of single nodes and paths is
  // left out.
  NominalEvaluator(const workload::Model& model,
                   const hardware::Cluster& cluster,
                   const calibration::Constants& constants = {},
                   const Variation& variation = {});

  // Requires: the job of the model is valid and fits the cluster.
  //
  // Errors: those of BuildEstimate().
  absl::StatusOr<NominalTime> Evaluate(const workload::Parallelism& parallelism,
                                       const workload::Training& training);

  // The order in which the stages of the job evaluated last run. That of
  // kZeroBubbleAuto was searched for with its nominal times.
  const step::PipelineOrder& Order();

 private:
  // What layouts have in common is kept under those of their sizes that it
  // depends on.
  using Key = std::array<int64_t, 28>;

  // Seconds of the model's parts.
  struct Parts {
    KindSeconds layer;
    KindSeconds recomputed_layer;
    KindSeconds embedding;
    KindSeconds head;
    KindSeconds host;

    KindSeconds SumOf(const StageParts& held) const;
  };
  struct PhaseParts {
    Parts forward;
    Parts backward;
    Parts backward_input;
    Parts backward_weight;
  };
  // Seconds of transfers, by boundary.
  using Transfers = std::vector<double>;
  // What data groups exchange, in operations and, by stage, after them.
  struct Exchange {
    ModelTraffic model;
    std::vector<ClosingCosts> closing;
    std::vector<bool>
        as_before;  // whether a closing is that of the stage before
  };
  // Where layers of stages are uneven, those count as well.
  using ExchangeKey = std::pair<Key, std::vector<int64_t>>;
  // What virtual stages and stages take. Most are like the one before.
  struct Sum {
    KindSeconds by_kind;
    double total = 0;
    double window = 0;
  };
  struct Sums {
    std::vector<Sum> different;
    // By virtual stage: indices into `different`.
    std::vector<size_t> forward;
    std::vector<size_t> backward;  // or its input part
    std::vector<size_t> weight;    // nothing where backwards are not split
    std::vector<KindSeconds> closing;

    const Sum& of_forward(size_t u) const { return different[forward[u]]; }
    const Sum& of_backward(size_t u) const { return different[backward[u]]; }
    const Sum& of_weight(size_t u) const { return different[weight[u]]; }
    // That gradients may be reduced beside.
    double last_window(size_t u) const {
      return weight.empty() ? of_backward(u).window : of_weight(u).window;
    }
  };

  const PlacementShape& ShapeOfJob();
  absl::StatusOr<const PhaseParts*> PartsOfJob(const PlacementShape& shape);
  const Transfers& TransfersOfJob(const PlacementShape& shape);
  absl::StatusOr<const Exchange*> ExchangeOfJob(const PlacementShape& shape);
  absl::StatusOr<Exchange> CostOfExchange(const PlacementShape& shape) const;
  // Adds what is left of the exchange beside each part.
  void AddTraffic(const ModelTraffic& traffic, PhaseParts& parts) const;
  void SumVirtualStages(const PhaseParts& parts, const Transfers& transfers);
  // `offloaded` moves beside them.
  void AddSum(KindSeconds parts, double offloaded, double transfer,
              std::vector<size_t>& of);
  void SumClosings(const Exchange& exchange);
  double HopBehind(const Transfers& transfers, size_t u) const;
  const std::vector<double>& StageEnds(const Transfers& transfers);
  // The same, operation by operation.
  const std::vector<double>& RunOrder(const Transfers& transfers);
  void SearchOrder(const step::OperationTimes& times);
  NominalTime Assemble(const Transfers& transfers);

  const hardware::Cluster cluster_;
  const calibration::Constants constants_;
  const Variation variation_;
  workload::Job job_;  // the one at hand
  PipelineClock clock_;
  PipelineTimes times_;
  JobOrders orders_;
  step::PipelineOrder found_;  // of the job at hand, where it was searched for
  std::vector<double> ends_;
  Sums sums_;
  absl::flat_hash_map<Key, std::unique_ptr<PlacementShape>> shapes_;
  absl::flat_hash_map<Key, std::unique_ptr<PhaseParts>> parts_;
  absl::flat_hash_map<Key, std::unique_ptr<Transfers>> transfers_;
  absl::flat_hash_map<ExchangeKey, std::unique_ptr<Exchange>> exchanges_;
};

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_NOMINAL_H_
