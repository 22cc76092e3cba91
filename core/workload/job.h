// Job: what is trained, how it is split, how a step is run.
//
// Plain values. query builds them from messages and checks every range and
// every relation named here; the rest of the core relies on it.
#ifndef PRISM_CORE_WORKLOAD_JOB_H_
#define PRISM_CORE_WORKLOAD_JOB_H_

#include <cstdint>

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

enum class Schedule { kGpipe, kOneForwardOneBackward, kInterleaved };
enum class Sharding { kNone, kZero1 };
enum class RankOrder { kTensorDataPipeline, kTensorPipelineData };

// data * pipeline * tensor ranks; all sizes at least 1.
struct Parallelism {
  int64_t tensor = 1;  // divides heads, kv_heads or is a multiple of it
  bool sequence_parallel = false;
  int64_t pipeline = 1;
  int64_t virtual_stages = 1;  // above 1 for kInterleaved alone
  int64_t data = 1;
  Schedule schedule = Schedule::kOneForwardOneBackward;
  Sharding sharding = Sharding::kNone;
  RankOrder rank_order = RankOrder::kTensorDataPipeline;

  int64_t gpus() const { return tensor * pipeline * data; }
};

enum class Precision { kFp32, kTf32, kFp16, kBf16, kFp8 };
enum class Recompute { kNone, kSelective, kFull };
enum class Attention { kFlash, kUnfused };

struct Training {
  int64_t sequence = 1;
  int64_t global_batch = 1;  // divisible by micro_batch * data
  int64_t micro_batch = 1;
  Precision precision = Precision::kBf16;
  Recompute recompute = Recompute::kNone;
  Attention attention = Attention::kFlash;
  bool fp32_gradients = true;
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
