// Operators of a dense transformer on one GPU, in the order they run.
//
// A stretch is a run of operators on one GPU that ends where the tensor or the
// context group has to meet: everything inside it adds up, and the collective
// at its end makes the group wait. A layer is a few stretches; so is what the
// first and last stages do besides.
//
// Sizes are per GPU and micro-batch, after division by tensor and context
// groups.
// Requires of every function: the job is valid.
#ifndef PRISM_CORE_WORKLOAD_OPERATORS_H_
#define PRISM_CORE_WORKLOAD_OPERATORS_H_

#include <optional>
#include <vector>

#include "core/workload/job.h"

namespace prism::workload {

enum class OperatorKind {
  kMatrixProduct,   // batch x (m x k by k x n)
  kFusedAttention,  // scores never leave the processor
  kFusedAttentionBackward,
  kMemory,  // element-wise: bound by `bytes`
};

struct Operator {
  OperatorKind kind = OperatorKind::kMemory;
  // Sizes of kMatrixProduct; of fused attention those of its scores: queries
  // by keys over the head's size, for each head of each sequence.
  double batch = 1;
  double m = 1;
  double n = 1;
  double k = 1;
  double flops = 0;    // executed, of products and fused attention
  double bytes = 0;    // to and from memory, of kMemory
  double kernels = 1;  // launches, of kMemory and fused attention
  double row = 0;  // elements that kMemory reduces or draws for at a time, as
                   // in softmax; 0: each by itself
  bool low_precision = true;  // may run in 8 or 4 bit where the job asks
  bool of_weights = false;    // belongs to the weight part of a backward
};

enum class CollectiveKind {
  kAllGather,
  kReduceScatter,
  kAllReduce,
  kAllToAll,
  kPass,  // to the next of a ring
};

// Who takes part.
enum class Group {
  kTensor,
  kContext,
  kData,        // all data * context ranks
  kShard,       // of them, those that share one sharded copy
  kShardCopies  // of them, those that hold the same shard
};

struct Collective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  // The whole vector: gathered, before it is scattered, reduced. Of kAllToAll
  // and kPass what one rank holds and sends; of kAllToAll its own part stays.
  double bytes = 0;
  Group group = Group::kTensor;
  double steps = 1;         // of kPass: times in a row
  bool beside = false;      // may run beside the operators of its own stretch
  bool of_weights = false;  // only the weight part of a backward waits for it
};

struct Stretch {
  std::vector<Operator> operators = {};
  std::optional<Collective> then = std::nullopt;
  bool recompute = false;  // of the forward, within the backward
};

using Stretches = std::vector<Stretch>;

// One layer, forward, and backward with what is computed again: as the job
// says, or as `recompute` does (stages.h tells which layers).
//
// A backward may be run in two parts. The weight part is what frameworks put
// off (WeightGradStore of the zero-bubble authors' Megatron-LM and of
// DualPipe): the products that give weights their gradients, their sum with
// those of earlier micro-batches, and under sequence parallelism the gathering
// of their kept inputs. All else is the input part, gradients of biases, norms
// and embeddings too.
Stretches LayerForward(const Job& job);
Stretches LayerBackward(const Job& job);
Stretches LayerBackward(const Job& job, Recompute recompute);

// What the first virtual stage does before its layers, and after them in the
// backward.
Stretches EmbeddingForward(const Job& job);
Stretches EmbeddingBackward(const Job& job);

// What the last virtual stage does after its layers (final norm, logits,
// loss), and before them in the backward.
Stretches HeadForward(const Job& job);
Stretches HeadBackward(const Job& job);

// The optimizer's update of `parameters` parameters of one GPU, of which it
// keeps the states of `owned`. Of those on the host OffloadTraffic() tells.
std::vector<Operator> OptimizerUpdate(const Job& job, double parameters,
                                      double owned);

// What the update of `owned` parameters on the host moves, in bytes: gradients
// out, weights back, and states through the host's memory.
struct OffloadBytes {
  double to_host = 0;
  double from_host = 0;
  double host_memory = 0;
};
OffloadBytes OffloadTraffic(const Job& job, double owned);

// Executed FLOPs.
double FlopsOf(const Stretches& stretches);

// Bytes of an activation, or a weight, outside 8-bit products.
double ActivationBytes(const Training& training);
double GradientBytes(const Training& training);

// Bytes of the activations one GPU passes on to the next stage. They are sent
// in `tensor` shares where they are equal on all ranks of the group; without
// sequence parallelism the receivers then gather `gathered_bytes`.
struct BoundaryTraffic {
  double sent_bytes = 0;
  double gathered_bytes = 0;
};
BoundaryTraffic StageBoundary(const Job& job);

}  // namespace prism::workload

#endif  // PRISM_CORE_WORKLOAD_OPERATORS_H_
