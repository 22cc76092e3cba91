#include "core/workload/stages.h"

#include <algorithm>

namespace prism::workload {

int64_t LayersOfVirtualStage(const Job& job, int64_t u) {
  const Parallelism& split = job.parallelism;
  return split.stage_layers.empty()
             ? job.model.layers / (split.pipeline * split.virtual_stages)
             : split.stage_layers[static_cast<size_t>(u)];
}

int64_t RecomputedLayers(const Job& job, int64_t u) {
  if (job.training.recompute != Recompute::kFull) return 0;
  const int64_t layers = LayersOfVirtualStage(job, u);
  return std::min(job.training.recompute_layers.value_or(layers), layers);
}

int64_t LayersOfStage(const Job& job, int64_t stage) {
  int64_t layers = 0;
  for (int64_t chunk = 0; chunk < job.parallelism.virtual_stages; ++chunk) {
    layers +=
        LayersOfVirtualStage(job, chunk * job.parallelism.pipeline + stage);
  }
  return layers;
}

}  // namespace prism::workload
