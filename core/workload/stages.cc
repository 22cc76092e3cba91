#include "core/workload/stages.h"

#include <algorithm>

namespace prism::workload {
namespace {

template <typename Holds>
bool AnyChunk(const Parallelism& split, int64_t stage, Holds holds) {
  for (int64_t chunk = 0; chunk < split.virtual_stages; ++chunk) {
    if (holds(split, VirtualStageOf(split, stage, chunk))) return true;
  }
  return false;
}

}  // namespace

bool SplitsBackward(Schedule schedule) {
  switch (schedule) {
    case Schedule::kGpipe:
    case Schedule::kOneForwardOneBackward:
    case Schedule::kInterleaved:
    case Schedule::kBreadthFirst:
      return false;
    case Schedule::kZeroBubbleH1:
    case Schedule::kZeroBubbleH2:
    case Schedule::kZeroBubbleV:
    case Schedule::kHalfMemoryV:
    case Schedule::kThirdMemoryV:
    case Schedule::kDualPipe:
    case Schedule::kDualPipeV:
    case Schedule::kZeroBubbleAuto:
      return true;
  }
  return false;
}

bool FoldsPipeline(const Parallelism& split) {
  switch (split.schedule) {
    case Schedule::kZeroBubbleV:
    case Schedule::kHalfMemoryV:
    case Schedule::kThirdMemoryV:
    case Schedule::kDualPipe:
    case Schedule::kDualPipeV:
      return true;
    case Schedule::kZeroBubbleAuto:
      return split.virtual_stages == 2;
    default:
      return false;
  }
}

int64_t Chains(Schedule schedule) {
  return schedule == Schedule::kDualPipe ? 2 : 1;
}

int64_t MicrobatchesOfChain(const Job& job) {
  return job.microbatches() / Chains(job.parallelism.schedule);
}

int64_t VirtualStages(const Parallelism& split) {
  return split.pipeline * split.virtual_stages;
}

int64_t ModelStages(const Parallelism& split) {
  return VirtualStages(split) / Chains(split.schedule);
}

int64_t StageOf(const Parallelism& split, int64_t u) {
  const bool back = FoldsPipeline(split) && u >= split.pipeline;
  return back ? 2 * split.pipeline - 1 - u : u % split.pipeline;
}

int64_t VirtualStageOf(const Parallelism& split, int64_t stage, int64_t chunk) {
  const bool back = FoldsPipeline(split) && chunk > 0;
  return back ? 2 * split.pipeline - 1 - stage : chunk * split.pipeline + stage;
}

int64_t BoundaryBehind(const Parallelism& split, int64_t u) {
  if (HasHead(split, u)) return kNoBoundary;
  const int64_t from = StageOf(split, u), to = StageOf(split, u + 1);
  if (from == to) return kNoBoundary;
  return FoldsPipeline(split) ? std::min(from, to) : from;
}

bool HasEmbedding(const Parallelism& split, int64_t u) {
  return u % ModelStages(split) == 0;
}

bool HasHead(const Parallelism& split, int64_t u) {
  return (u + 1) % ModelStages(split) == 0;
}

bool StageHasEmbedding(const Parallelism& split, int64_t stage) {
  return AnyChunk(split, stage, HasEmbedding);
}

bool StageHasHead(const Parallelism& split, int64_t stage) {
  return AnyChunk(split, stage, HasHead);
}

int64_t LayersOfVirtualStage(const Job& job, int64_t u) {
  const Parallelism& split = job.parallelism;
  const int64_t stages = ModelStages(split);
  return split.stage_layers.empty()
             ? job.model.layers / stages
             : split.stage_layers[static_cast<size_t>(u % stages)];
}

int64_t RecomputedLayers(const Job& job, int64_t u) {
  if (job.training.recompute != Recompute::kFull) return 0;
  const int64_t layers = LayersOfVirtualStage(job, u);
  return std::min(job.training.recompute_layers.value_or(layers), layers);
}

int64_t ForwardsInFlight(const Job& job, int64_t stage) {
  const int64_t p = job.parallelism.pipeline;
  const int64_t v = job.parallelism.virtual_stages;
  const int64_t all = job.microbatches() * v;
  if (v == 1) return std::min(p - stage, all);
  if (job.microbatches() == p) return all;
  return std::min(2 * (p - 1 - stage) + (v - 1) * p + 1, all);
}

double RecomputingShare(const Job& job, int64_t stage) {
  const int64_t keep = job.training.keep_microbatches;
  if (keep == 0) return 1;
  const int64_t window = ForwardsInFlight(job, stage);
  const int64_t all = job.microbatches() * job.parallelism.virtual_stages;
  const int64_t kept =
      all / window * std::min(keep, window) + std::min(keep, all % window);
  return 1 - static_cast<double>(kept) / static_cast<double>(all);
}

int64_t LayersOfStage(const Job& job, int64_t stage) {
  const Parallelism& split = job.parallelism;
  int64_t layers = 0;
  for (int64_t chunk = 0; chunk < split.virtual_stages; ++chunk) {
    layers += LayersOfVirtualStage(job, VirtualStageOf(split, stage, chunk));
  }
  return layers;
}

}  // namespace prism::workload
