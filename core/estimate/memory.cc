#include "core/estimate/memory.h"

#include <algorithm>

#include "core/estimate/held_activations.h"
#include "core/workload/activation_memory.h"
#include "core/workload/data_traffic.h"
#include "core/workload/operators.h"
#include "core/workload/parameters.h"
#include "core/workload/sizes.h"
#include "core/workload/stages.h"

namespace prism::estimate {
namespace {

using workload::Framework;
using workload::Job;
using workload::Precision;
using workload::Recompute;
using workload::Sharding;

// CUDA context, library workspaces and communication buffers: NCCL takes 0.4
// GB and a framework 1 to 3.5 GB (the system descriptions of NVIDIA's
// AIConfigurator, 2025).
constexpr double kOutsideBytes = 2e9;

// What PyTorch's allocator reserved beyond what it had handed out: 2.8% to 8%,
// 4.8% in the mean of 22 runs on B200 (SimuMax, release 1.2, 2026).
constexpr double kFragmentation = 0.05;

// Master weights and two Adam moments in 32 bit.
constexpr double kOptimizerBytes = 12;

bool Is16Bit(Precision precision) {
  return precision != Precision::kFp32 && precision != Precision::kTf32;
}

bool KeepsWeightsIn32Bit(const Job& job) {
  return !Is16Bit(job.training.precision) ||
         (job.parallelism.sharding == Sharding::kZero3 &&
          (job.training.framework == Framework::kFsdp ||
           job.training.framework == Framework::kTorchtitan));
}

void AddStates(const Job& job, double parameters, MemoryUse& use) {
  const Sharding sharding = job.parallelism.sharding;
  const auto shards = static_cast<double>(job.parallelism.shards());
  // Weights in 32 bit are their own master copy, and their gradients are as
  // wide.
  const bool wide = KeepsWeightsIn32Bit(job);
  use.parameters =
      parameters * (wide ? 4 : 2) / (sharding >= Sharding::kZero3 ? shards : 1);
  use.gradients = parameters * (wide ? 4 : GradientBytes(job.training)) /
                  (sharding >= Sharding::kZero2 ? shards : 1);
  if (job.training.offload_optimizer) return;
  use.optimizer = parameters * (wide ? 8 : kOptimizerBytes) / shards;
}

// One layer that is being computed again.
double RecomputedLayerBytes(const Job& job) {
  return job.training.recompute == Recompute::kNone
             ? 0
             : KeptLayerBytes(job, Recompute::kNone) -
                   KeptLayerBytes(job, job.training.recompute);
}

// While a part of `parameters` is in its backward with all its weights
// gathered: they and the next part's, and gradients before and after they are
// widened for the sum.
double GatheredBytes(const Job& job, double parameters) {
  if (job.parallelism.sharding != Sharding::kZero3 ||
      job.parallelism.shards() == 1) {
    return 0;
  }
  const double weight = ActivationBytes(job.training);
  if (StaysGathered(job)) return parameters * weight;
  return parameters * (3 * weight + GradientBytes(job.training));
}

// All weights of `stage`, and the sums of their gradients.
double StandingGathered(const Job& job, double parameters) {
  if (!StaysGathered(job) || job.parallelism.shards() == 1) return 0;
  return parameters *
         (ActivationBytes(job.training) + GradientBytes(job.training));
}

// Transformer Engine adds gradients of weights to their sum inside the product
// and hands a placeholder of each shape to autograd, which it then keeps.
bool KeepsPlaceholders(const Job& job) {
  return job.training.framework == Framework::kMegatronCore &&
         job.training.fp32_gradients && Is16Bit(job.training.precision);
}

// Copies of weights for narrow products, by rows and by columns.
double RoundedBytes(const Job& job, double weights) {
  if (job.training.framework != Framework::kMegatronCore) return 0;
  return 2 * NarrowBytes(job.training.precision).value_or(0) * weights;
}

struct Weights {
  double layer = 0;
  double head = 0;
};

Weights WeightsOf(const Job& job) {
  const int64_t t = job.parallelism.tensor;
  return {LayerParameters(job.model).per_gpu(t),
          static_cast<double>(job.model.vocabulary) *
              static_cast<double>(job.model.hidden) / static_cast<double>(t)};
}

// Kept between operations.
double StandingBuffers(const Job& job, int64_t stage, bool has_head) {
  const Weights weights = WeightsOf(job);
  const auto layers = static_cast<double>(LayersOfStage(job, stage));
  double bytes = RoundedBytes(job, layers * weights.layer) +
                 StandingGathered(job, StageParameters(job, stage));
  if (KeepsPlaceholders(job)) {
    const double width = ActivationBytes(job.training);
    if (layers > 0) bytes += width * weights.layer;
    if (has_head) bytes += width * weights.head;
  }
  return bytes;
}

// With `kept` bytes of activations of its micro-batches.
MemoryUse MemoryOf(const Job& job, int64_t stage, double kept) {
  const bool has_head = StageHasHead(job.parallelism, stage);
  const Weights weights = WeightsOf(job);
  MemoryUse use;
  use.stage = stage;
  AddStates(job, StageParameters(job, stage), use);
  const double standing = StandingBuffers(job, stage, has_head);
  use.activations = kept;
  use.buffers = standing;
  if (LayersOfStage(job, stage) > 0) {
    use.activations += RecomputedLayerBytes(job) + LayerBackwardBytes(job);
    use.buffers += GatheredBytes(job, weights.layer);
  }
  if (has_head) {
    MemoryUse head = use;
    head.activations = kept + HeadInputBytes(job);
    head.buffers = standing + GatheredBytes(job, weights.head);
    head.logits = LogitBytes(job);
    if (head.allocated() > use.allocated()) use = head;
  }
  use.reserve = kOutsideBytes + kFragmentation * use.allocated();
  return use;
}

}  // namespace

std::vector<MemoryUse> MemoryModel::Stages(const Job& job) {
  std::vector<MemoryUse> uses;
  for (const double kept : held_.PeakBytes(job)) {
    uses.push_back(MemoryOf(job, static_cast<int64_t>(uses.size()), kept));
  }
  return uses;
}

MemoryUse MemoryModel::Peak(const Job& job) {
  const std::vector<MemoryUse> uses = Stages(job);
  return *std::max_element(uses.begin(), uses.end(),
                           [](const MemoryUse& a, const MemoryUse& b) {
                             return a.total() < b.total();
                           });
}

MemoryUse StageMemory(const Job& job, int64_t stage) {
  return MemoryModel().Stages(job)[static_cast<size_t>(stage)];
}

MemoryUse PeakMemory(const Job& job) { return MemoryModel().Peak(job); }

}  // namespace prism::estimate
