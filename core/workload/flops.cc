#include "core/workload/flops.h"

#include "core/workload/operators.h"
#include "core/workload/stages.h"

namespace prism::workload {

double ModelFlops(const Job& job) {
  const Model& model = job.model;
  const auto s = static_cast<double>(job.training.sequence);
  const double tokens = static_cast<double>(job.training.global_batch) * s;
  const auto h = static_cast<double>(model.hidden);
  const auto e = static_cast<double>(model.head_size);
  const auto a = static_cast<double>(model.heads);
  const auto g = static_cast<double>(model.kv_heads);
  const auto f = static_cast<double>(model.ffn_hidden);
  const double layer = 2 * h * (a + 2 * g) * e + 4 * s * a * e + 2 * a * e * h +
                       (model.gated_ffn ? 6 : 4) * h * f;
  const double head = 2 * h * static_cast<double>(model.vocabulary);
  return 3 * tokens * (static_cast<double>(model.layers) * layer + head);
}

double ExecutedFlops(const Job& job, int64_t stage) {
  const Parallelism& split = job.parallelism;
  const double forward = FlopsOf(LayerForward(job));
  const double again = FlopsOf(LayerBackward(job));
  const Recompute rest = job.training.recompute == Recompute::kFull
                             ? Recompute::kNone
                             : job.training.recompute;
  const double kept = FlopsOf(LayerBackward(job, rest));
  const double share = RecomputingShare(job, stage);
  double flops = 0;
  for (int64_t chunk = 0; chunk < split.virtual_stages; ++chunk) {
    const int64_t u = VirtualStageOf(split, stage, chunk);
    const auto layers = static_cast<double>(LayersOfVirtualStage(job, u));
    const double recomputed =
        share * static_cast<double>(RecomputedLayers(job, u));
    flops +=
        layers * forward + recomputed * again + (layers - recomputed) * kept;
  }
  if (StageHasHead(split, stage)) {
    flops += FlopsOf(HeadForward(job)) + FlopsOf(HeadBackward(job));
  }
  return flops * static_cast<double>(MicrobatchesOfChain(job));
}

}  // namespace prism::workload
