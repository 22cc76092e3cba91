#include "core/workload/memory.h"

#include <algorithm>

#include "core/workload/parameters.h"
#include "core/workload/stages.h"

namespace prism::workload {
namespace {

// CUDA context, library workspaces, communication buffers and allocator
// fragmentation: NCCL takes 0.4 GB and a framework 1 to 3.5 GB (the system
// descriptions of NVIDIA's AIConfigurator, 2025).
constexpr double kReserveBytes = 3e9;

// Master weights and two Adam moments in 32 bit.
constexpr double kOptimizerBytes = 12;

bool Is16Bit(Precision precision) {
  return precision != Precision::kFp32 && precision != Precision::kTf32;
}

// Layers' worth of activations that a stage holds at its peak, over all
// micro-batches in flight.
double LayersInFlight(const Job& job, int64_t stage) {
  const Parallelism& parallelism = job.parallelism;
  const auto p = static_cast<double>(parallelism.pipeline);
  const auto v = static_cast<double>(parallelism.virtual_stages);
  const auto m = static_cast<double>(job.microbatches());
  const auto layers = static_cast<double>(LayersOfStage(job, stage));
  switch (parallelism.schedule) {
    case Schedule::kGpipe:
      return m * layers;
    case Schedule::kOneForwardOneBackward:
      return std::min(m, p - static_cast<double>(stage)) * layers;
    case Schedule::kInterleaved: {
      // The first stage holds L (1 + (p-1)/(p v)) layers (arXiv 2205.05198,
      // section 4.2.3): 2 (p-1-i) + (v-1) p + 1 chunks on stage i.
      const double chunks =
          2 * (p - 1 - static_cast<double>(stage)) + (v - 1) * p + 1;
      return std::min(chunks, m * v) * layers / v;
    }
  }
  return layers;
}

// Tokens of a micro-batch times hidden size.
double Elements(const Job& job) {
  return static_cast<double>(job.training.micro_batch) *
         static_cast<double>(job.training.sequence) *
         static_cast<double>(job.model.hidden);
}

// Bytes of one layer and micro-batch that the tensor group splits whether or
// not it splits the sequence: inputs of attention and products. In arXiv
// 2205.05198 24 of the 34 bytes; here for any head count and feed-forward size.
double SplitLayerBytes(const Job& job, double width) {
  const Model& model = job.model;
  const double tokens = static_cast<double>(job.training.micro_batch) *
                        static_cast<double>(job.training.sequence);
  const auto e = static_cast<double>(model.head_size);
  const double queries = static_cast<double>(model.heads) * e;
  const double keys_and_values = 2 * static_cast<double>(model.kv_heads) * e;
  const auto f = static_cast<double>(model.ffn_hidden);
  // Queries, keys, values and the attention's result; before and after the
  // activation function, whose gate is a further input.
  return tokens * width *
         (2 * queries + keys_and_values + f * (model.gated_ffn ? 3 : 2));
}

double ScoreBytes(const Job& job, double width) {
  const bool kept = job.training.attention == Attention::kUnfused &&
                    job.training.recompute == Recompute::kNone;
  if (!kept) return 0;
  const auto s = static_cast<double>(job.training.sequence);
  // Softmax output, dropout output and the dropout mask.
  return static_cast<double>(job.training.micro_batch) *
         static_cast<double>(job.model.heads) * s * s * (2 * width + 1);
}

// Bytes of one layer and micro-batch on one GPU between forward and backward.
double LayerActivationBytes(const Job& job) {
  const double width = Is16Bit(job.training.precision) ? 2 : 4;
  const auto t = static_cast<double>(job.parallelism.tensor);
  const double whole_split = job.parallelism.sequence_parallel ? t : 1;
  if (job.training.recompute == Recompute::kFull) {
    return Elements(job) * width / whole_split;
  }
  // Inputs of two norms and of two products, and two dropout masks.
  const double whole = Elements(job) * (4 * width + 2);
  return whole / whole_split +
         (SplitLayerBytes(job, width) + ScoreBytes(job, width)) / t;
}

// One layer that full recomputation has in hand.
double RecomputedLayerBytes(const Job& job) {
  if (job.training.recompute != Recompute::kFull) return 0;
  Job kept = job;
  kept.training.recompute = Recompute::kNone;
  return LayerActivationBytes(kept);
}

double LogitBytes(const Job& job, int64_t stage) {
  if (stage != job.parallelism.pipeline - 1) return 0;
  const double width = Is16Bit(job.training.precision) ? 2 : 4;
  const double logits = static_cast<double>(job.training.micro_batch) *
                        static_cast<double>(job.training.sequence) *
                        static_cast<double>(job.model.vocabulary);
  // Logits, and their 32-bit copy that the loss is computed on.
  return logits * (width + 4) / static_cast<double>(job.parallelism.tensor);
}

}  // namespace

MemoryUse StageMemory(const Job& job, int64_t stage) {
  const double parameters = StageParameters(job, stage);
  const bool mixed = Is16Bit(job.training.precision);
  const double shards = job.parallelism.sharding == Sharding::kZero1
                            ? static_cast<double>(job.parallelism.data)
                            : 1;
  MemoryUse use;
  use.stage = stage;
  use.parameters = parameters * (mixed ? 2 : 4);
  use.gradients = parameters * (mixed && !job.training.fp32_gradients ? 2 : 4);
  // In 32 bit the weights are their own master copy.
  use.optimizer = parameters * (mixed ? kOptimizerBytes : 8) / shards;
  use.activations = LayersInFlight(job, stage) * LayerActivationBytes(job) +
                    RecomputedLayerBytes(job);
  use.logits = LogitBytes(job, stage);
  use.reserve = kReserveBytes;
  return use;
}

MemoryUse PeakMemory(const Job& job) {
  MemoryUse peak = StageMemory(job, 0);
  for (int64_t stage = 1; stage < job.parallelism.pipeline; ++stage) {
    const MemoryUse use = StageMemory(job, stage);
    if (use.total() > peak.total()) peak = use;
  }
  return peak;
}

}  // namespace prism::workload
