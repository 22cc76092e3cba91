#include "core/estimate/layer_times.h"

#include "core/estimate/cost.h"
#include "core/estimate/part_costs.h"
#include "core/estimate/placement_shape.h"
#include "core/estimate/variation.h"

namespace prism::estimate {

absl::StatusOr<LayerTimes> LayerTimesOf(const workload::Job& job,
                                        const hardware::Cluster& cluster,
                                        const calibration::Constants& constants,
                                        const Variation& variation) {
  const Cost cost(job, cluster, ShapeOf(job, cluster, {}), constants);
  const absl::StatusOr<ModelCosts> model =
      CostOfModel(job, cost, SlowestFactor(job.parallelism.gpus(), variation));
  if (!model.ok()) return model.status();
  const bool again = job.training.recompute == workload::Recompute::kFull;
  const PartCosts& layer = again ? model->recomputed_layer : model->layer;
  return LayerTimes{.forward = SumOf(layer.forward),
                    .backward = SumOf(layer.backward)};
}

}  // namespace prism::estimate
