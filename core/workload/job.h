// Job: what is trained, how it is split, how a step is run.
//
// Plain values. query builds them from messages and checks every range and
// every relation named here; the rest of the core relies on it.
#ifndef PRISM_CORE_WORKLOAD_JOB_H_
#define PRISM_CORE_WORKLOAD_JOB_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace prism::workload {

// A decoder-only transformer of identical layers between an embedding and a
// head. All sizes at least 1 unless said otherwise.
struct Model {
  int64_t layers = 1;
  int64_t hidden = 1;
  int64_t heads = 1;
  int64_t kv_heads = 1;  // divides heads
  int64_t head_size = 1;
  int64_t ffn_hidden = 1;
  bool gated_ffn = false;
  int64_t vocabulary = 1;
  int64_t position_embeddings = 0;  // 0: none are learned
  bool tied_embeddings = true;
  bool linear_bias = true;
};

// In which order stages run their micro-batches; where virtual stages lie is in
// stages.h.
enum class Schedule {
  kGpipe,
  kOneForwardOneBackward,
  kInterleaved,
  kBreadthFirst,
  kZeroBubbleH1,
  kZeroBubbleH2,
  kZeroBubbleV,
  kHalfMemoryV,
  kThirdMemoryV,
  kDualPipe,
  kDualPipeV,
  kZeroBubbleAuto,  // searched for
};

// How a context group, which splits every sequence, computes attention.
enum class ContextKind {
  kRing,       // keys and values pass round the group, step by step
  kAllGather,  // keys and values are gathered first
  kAllToAll,   // sequences are exchanged for heads, and back
};

// What the data group shares out; each kind has what those before it have.
enum class Sharding {
  kNone,
  kZero1,  // optimizer states
  kZero2,  // gradients
  kZero3,  // parameters
};

// In which order ranks are numbered over the groups, fastest first. Context
// ranks follow tensor ranks in both.
enum class RankOrder { kTensorDataPipeline, kTensorPipelineData };

// Traffic that runs beside computation where the work at hand lets it. query
// fills in the framework's defaults where a question leaves it open.
struct Overlap {
  bool gradients = false;   // reduced beside the last backward
  bool parameters = false;  // of sharded weights: gathered beside computation
  bool tensor = false;      // collectives of tensor groups beside products
  bool pipeline = false;    // activations sent beside the next operation

  bool operator==(const Overlap&) const = default;
};

// data * pipeline * context * tensor ranks; all sizes at least 1.
struct Parallelism {
  int64_t tensor = 1;  // divides heads, kv_heads or is a multiple of it
  bool sequence_parallel = false;
  int64_t context = 1;  // times tensor with sequence_parallel: divides sequence
  ContextKind context_kind = ContextKind::kRing;
  int64_t pipeline = 1;
  // Chunks of a stage. Any for kInterleaved and kBreadthFirst, 2 for the
  // V-shaped schedules and both DualPipes, 1 or 2 for kZeroBubbleAuto, else 1.
  int64_t virtual_stages = 1;
  int64_t data = 1;
  Schedule schedule = Schedule::kOneForwardOneBackward;
  // Of kZeroBubbleAuto: most micro-batches a stage keeps. 0: `pipeline`.
  int64_t activation_limit = 0;
  // Layers of each virtual stage that the model is cut into (ModelStages()), in
  // the model's order; they sum to the model's. Only the first and the last may
  // be 0: an embedding or a head alone. Empty: all alike.
  std::vector<int64_t> stage_layers;
  Sharding sharding = Sharding::kNone;
  // Ranks that hold one sharded copy; divides data * context. 0: all of them.
  int64_t shard_group = 0;
  RankOrder rank_order = RankOrder::kTensorDataPipeline;
  Overlap overlap;

  int64_t gpus() const { return tensor * context * pipeline * data; }
  // Ranks that hold the same part of the model: gradients are reduced over
  // them.
  int64_t gradient_ranks() const { return data * context; }
  // Ranks over which one copy is sharded; 1 without sharding.
  int64_t shards() const {
    if (sharding == Sharding::kNone) return 1;
    return shard_group > 0 ? shard_group : gradient_ranks();
  }
};

enum class Precision { kFp32, kTf32, kFp16, kBf16, kFp8, kFp4 };
enum class Recompute { kNone, kSelective, kFull };
enum class Attention { kFlash, kUnfused };

// Whose operators, launches and defaults a step has.
enum class Framework {
  kMegatronLm,    // as of 2021
  kMegatronCore,  // since 2023, with Transformer Engine
  kFsdp,          // fully sharded data parallel of PyTorch
  kTorchtitan,
};

struct Training {
  int64_t sequence = 1;
  int64_t global_batch = 1;  // divisible by micro_batch * data
  int64_t micro_batch = 1;
  Precision precision = Precision::kBf16;
  Recompute recompute = Recompute::kNone;
  // Of each virtual stage, with kFull alone; unset: all its layers.
  std::optional<int64_t> recompute_layers;
  // Of as many forwards in a row as a stage holds at most, so many at their
  // beginning keep everything instead; with kFull, and kOneForwardOneBackward
  // or kInterleaved, alone.
  int64_t keep_microbatches = 0;
  Attention attention = Attention::kFlash;
  bool fp32_gradients = true;
  Framework framework = Framework::kMegatronLm;
  bool compiled = false;  // element-wise operators are fused by a compiler
  bool dropout = true;
  bool fused_cross_entropy = false;  // one kernel, nothing kept in 32 bit
  bool offload_optimizer = false;    // states and update on the host
  // Share of what layers keep that waits on the host, 0 to 1.
  double offload_activations = 0;
};

struct Job {
  Model model;
  Parallelism parallelism;
  Training training;

  // Micro-batches of one replica in one step.
  int64_t microbatches() const {
    return training.global_batch / (training.micro_batch * parallelism.data);
  }
};

}  // namespace prism::workload

#endif  // PRISM_CORE_WORKLOAD_JOB_H_
