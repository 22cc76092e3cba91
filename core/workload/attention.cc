#include "core/workload/attention.h"

#include <algorithm>
#include <utility>

#include "core/workload/elementwise.h"
#include "core/workload/sizes.h"

namespace prism::workload {
namespace {

// Scores of one GPU: heads of `sequences`, queries against keys.
struct Scores {
  double batch = 1;  // sequences times heads
  double kv_batch = 1;
  double queries = 1;
  double keys = 1;

  double count() const { return batch * queries * keys; }
};

bool Exchanges(const Job& job, ContextKind kind) {
  return job.parallelism.context > 1 && job.parallelism.context_kind == kind;
}

Scores ScoresOf(const Job& job, const Sizes& z) {
  if (Exchanges(job, ContextKind::kAllToAll)) {
    return {z.sequences * z.heads / z.c,
            z.sequences * std::max(z.kv_heads / z.c, 1.0), z.s, z.s};
  }
  return {z.sequences * z.heads, z.sequences * z.kv_heads, z.s / z.c, z.s};
}

Operator ScoreProduct(double batch, double m, double n, double k) {
  return {.kind = OperatorKind::kMatrixProduct,
          .batch = batch,
          .m = m,
          .n = n,
          .k = k,
          .flops = 2 * batch * m * n * k,
          .low_precision = false};
}

// Of an even share of the causal half, what the rank with most of it computes.
// Ranks of a context group take early and late parts of the sequence, so that
// each has its share (arXiv 2311.09431); those of torchtitan take one part
// each, and the last has all keys before it.
double CausalShare(const Job& job, const Sizes& z) {
  const bool even = job.training.framework != Framework::kTorchtitan ||
                    Exchanges(job, ContextKind::kAllToAll);
  return even ? 1 : 2 - 1 / z.c;
}

// Multiply-adds of scores and values, 4 e each, half of them where causal
// blocks are skipped (FlashAttention-2, arXiv 2307.08691). A ring runs one
// kernel for each part of the keys.
Operator FusedAttention(const Job& job, const Sizes& z, const Scores& scores,
                        OperatorKind kind, double factor) {
  const double parts = Exchanges(job, ContextKind::kRing) ? z.c : 1;
  return {
      .kind = kind,
      .batch = scores.batch,
      .m = scores.queries,
      .n = scores.keys / parts,
      .k = z.e,
      .flops = factor * CausalShare(job, z) * 0.5 * 4 * scores.count() * z.e,
      .kernels = parts,
      .low_precision = false};
}

// Megatron-LM's fused softmax and the dropout after it go over scores row by
// row.
Operator RowOperator(double bytes, const Scores& scores) {
  Operator op = MemoryOperator(bytes);
  op.row = scores.keys;
  return op;
}

std::vector<Operator> UnfusedForward(const Job& job, const Sizes& z,
                                     const Scores& scores) {
  const double count = scores.count();
  std::vector<Operator> operators = {
      ScoreProduct(scores.batch, scores.queries, scores.keys, z.e),
      // Scale, mask and softmax: half is masked and never read.
      RowOperator(count * 1.5 * z.width, scores),
  };
  if (job.training.dropout) {
    operators.push_back(RowOperator(count * (2 * z.width + 1), scores));
  }
  operators.push_back(
      ScoreProduct(scores.batch, scores.queries, z.e, scores.keys));
  // Back to token order.
  operators.push_back(
      MemoryOperator(scores.batch * scores.queries * z.e * 2 * z.width));
  return operators;
}

std::vector<Operator> UnfusedBackward(const Job& job, const Sizes& z,
                                      const Scores& scores) {
  const double count = scores.count();
  const double rows = scores.batch * scores.queries;
  const double kv_rows = scores.kv_batch * scores.keys;
  std::vector<Operator> operators = {
      MemoryOperator(rows * z.e * 2 * z.width),
      ScoreProduct(scores.batch, scores.queries, scores.keys, z.e),
      ScoreProduct(scores.batch, scores.keys, z.e, scores.queries),
  };
  if (job.training.dropout) {
    operators.push_back(RowOperator(count * (2 * z.width + 1), scores));
  }
  operators.push_back(RowOperator(count * 2 * z.width, scores));
  operators.push_back(
      ScoreProduct(scores.batch, scores.queries, z.e, scores.keys));
  operators.push_back(
      ScoreProduct(scores.batch, scores.keys, z.e, scores.queries));
  operators.push_back(MemoryOperator((rows + 2 * kv_rows) * z.e * 2 * z.width));
  return operators;
}

std::vector<Operator> KernelsForward(const Job& job, const Sizes& z) {
  const Scores scores = ScoresOf(job, z);
  if (job.training.attention == Attention::kUnfused) {
    return UnfusedForward(job, z, scores);
  }
  return {
      FusedAttention(job, z, scores, OperatorKind::kFusedAttention, 1),
  };
}

std::vector<Operator> KernelsBackward(const Job& job, const Sizes& z) {
  const Scores scores = ScoresOf(job, z);
  if (job.training.attention == Attention::kUnfused) {
    return UnfusedBackward(job, z, scores);
  }
  // Scores once more, then two gradients each of scores and values.
  return {FusedAttention(job, z, scores, OperatorKind::kFusedAttentionBackward,
                         2.5)};
}

Collective OfContext(CollectiveKind kind, double bytes) {
  return {.kind = kind, .bytes = bytes, .group = Group::kContext};
}

// Keys and values of this GPU's part of the sequence.
double KeyValueBytes(const Sizes& z) {
  return z.tokens * 2 * z.kv_heads * z.e * z.width;
}

double QueryBytes(const Sizes& z) { return z.tokens * z.heads * z.e * z.width; }

Stretch Meeting(const Collective& collective) { return {.then = collective}; }

Stretch Pass(std::vector<Operator> kernels, double bytes, double steps) {
  Collective pass = OfContext(CollectiveKind::kPass, bytes);
  pass.steps = steps;
  pass.beside = true;
  return {.operators = std::move(kernels), .then = pass};
}

}  // namespace

Stretches AttentionForward(const Job& job) {
  const Sizes z(job);
  std::vector<Operator> kernels = KernelsForward(job, z);
  if (job.parallelism.context == 1) return {{.operators = std::move(kernels)}};
  switch (job.parallelism.context_kind) {
    case ContextKind::kRing:
      return {{}, Pass(std::move(kernels), KeyValueBytes(z), z.c - 1), {}};
    case ContextKind::kAllGather:
      return {Meeting(OfContext(CollectiveKind::kAllGather,
                                z.c * KeyValueBytes(z))),
              {.operators = std::move(kernels)}};
    case ContextKind::kAllToAll:
      return {Meeting(OfContext(CollectiveKind::kAllToAll,
                                QueryBytes(z) + KeyValueBytes(z))),
              {.operators = std::move(kernels),
               .then = OfContext(CollectiveKind::kAllToAll, QueryBytes(z))},
              {}};
  }
  return {};
}

Stretches AttentionBackward(const Job& job) {
  const Sizes z(job);
  std::vector<Operator> kernels = KernelsBackward(job, z);
  if (job.parallelism.context == 1) return {{.operators = std::move(kernels)}};
  const double kv = KeyValueBytes(z);
  switch (job.parallelism.context_kind) {
    case ContextKind::kRing:
      // Keys and values go round as in the forward; their gradients go all
      // the way home.
      return {{}, Pass(std::move(kernels), kv * (2 - 1 / z.c), z.c), {}};
    case ContextKind::kAllGather:
      return {Meeting(OfContext(CollectiveKind::kAllGather, z.c * kv)),
              {.operators = std::move(kernels),
               .then = OfContext(CollectiveKind::kReduceScatter, z.c * kv)},
              {}};
    case ContextKind::kAllToAll:
      return {
          Meeting(OfContext(CollectiveKind::kAllToAll, QueryBytes(z))),
          {.operators = std::move(kernels),
           .then = OfContext(CollectiveKind::kAllToAll, QueryBytes(z) + kv)},
          {}};
  }
  return {};
}

}  // namespace prism::workload
