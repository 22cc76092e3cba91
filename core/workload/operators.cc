#include "core/workload/operators.h"

#include <utility>

#include "core/workload/parameters.h"

namespace prism::workload {
namespace {

// Sizes that most operators need, per GPU.
struct Sizes {
  explicit Sizes(const Job& job)
      : width(ActivationBytes(job.training)),
        t(static_cast<double>(job.parallelism.tensor)),
        sequences(static_cast<double>(job.training.micro_batch)),
        s(static_cast<double>(job.training.sequence)),
        h(static_cast<double>(job.model.hidden)),
        e(static_cast<double>(job.model.head_size)),
        heads(static_cast<double>(job.model.heads) / t),
        kv_heads(KeyValueHeads(job)),
        f(static_cast<double>(job.model.ffn_hidden) / t),
        vocabulary(static_cast<double>(job.model.vocabulary) / t) {
    tokens = sequences * s;
    // Tokens outside the products, where sequence parallelism splits them.
    own_tokens = job.parallelism.sequence_parallel ? tokens / t : tokens;
  }

  // A group larger than the key-value heads holds copies of them.
  static double KeyValueHeads(const Job& job) {
    const int64_t kv = job.model.kv_heads;
    const int64_t tensor = job.parallelism.tensor;
    return kv >= tensor ? static_cast<double>(kv) / tensor : 1;
  }

  double width;
  double t;
  double sequences;
  double s;
  double h;
  double e;
  double heads;
  double kv_heads;
  double f;
  double vocabulary;
  double tokens = 0;
  double own_tokens = 0;
};

Operator Product(double batch, double m, double n, double k) {
  return {.kind = OperatorKind::kMatrixProduct,
          .batch = batch,
          .m = m,
          .n = n,
          .k = k,
          .flops = 2 * batch * m * n * k};
}

Operator ScoreProduct(double batch, double m, double n, double k) {
  Operator product = Product(batch, m, n, k);
  product.low_precision = false;
  return product;
}

Operator Memory(double bytes, double kernels = 1) {
  return {.kind = OperatorKind::kMemory, .bytes = bytes, .kernels = kernels};
}

// Gradient of a product's input, then of its weight, for `weight` = inputs x
// outputs. With several micro-batches the weight's gradient is added to what
// is there: read, write, and the product read back.
void AddProductBackward(const Job& job, double tokens, double inputs,
                        double outputs, std::vector<Operator>& operators) {
  operators.push_back(Product(1, tokens, inputs, outputs));
  operators.push_back(Product(1, inputs, outputs, tokens));
  if (job.microbatches() > 1) {
    operators.push_back(Memory(
        inputs * outputs *
        (2 * GradientBytes(job.training) + ActivationBytes(job.training))));
  }
}

// Start and end of what the tensor group splits: sequence parallelism gathers
// and scatters, otherwise the sums at the end are reduced on every rank.
std::optional<Collective> GroupEntry(const Job& job) {
  if (job.parallelism.tensor == 1 || !job.parallelism.sequence_parallel) {
    return std::nullopt;
  }
  const Sizes z(job);
  return Collective{CollectiveKind::kAllGather, z.tokens * z.h * z.width};
}

std::optional<Collective> GroupExit(const Job& job) {
  if (job.parallelism.tensor == 1) return std::nullopt;
  const Sizes z(job);
  return Collective{job.parallelism.sequence_parallel
                        ? CollectiveKind::kReduceScatter
                        : CollectiveKind::kAllReduce,
                    z.tokens * z.h * z.width};
}

// Ends the last stretch with a collective, or leaves it open.
void Meet(const std::optional<Collective>& collective, Stretches& stretches) {
  if (!collective) return;
  stretches.back().then = collective;
  stretches.emplace_back();
}

std::vector<Operator>& Open(Stretches& stretches) {
  return stretches.back().operators;
}

// Under sequence parallelism each GPU keeps its share of a product's input,
// and the weight's gradient needs the whole once more (arXiv 2205.05198,
// section 4.2.2).
void MeetForKeptInput(const Job& job, Stretches& stretches) {
  Meet(GroupEntry(job), stretches);
}

void DropEmptyEnd(Stretches& stretches) {
  if (stretches.back().operators.empty() && !stretches.back().then) {
    stretches.pop_back();
  }
}

Operator NormForward(const Sizes& z) {
  return Memory(z.own_tokens * z.h * 2 * z.width);
}

// The residual stream's own gradient is added on the way.
Operator NormBackward(const Sizes& z) {
  return Memory(z.own_tokens * z.h * 6 * z.width, 3);
}

// Bias, dropout and the sum with the residual stream, in one kernel.
Operator ResidualForward(const Sizes& z) {
  return Memory(z.own_tokens * z.h * (3 * z.width + 1));
}

Operator ResidualBackward(const Sizes& z) {
  return Memory(z.own_tokens * z.h * (3 * z.width + 1), 2);
}

// Multiply-adds of scores and values: 4 b s^2 a e, half of it where causal
// blocks are skipped (FlashAttention-2, arXiv 2307.08691).
double FusedAttentionFlops(const Sizes& z) {
  return 0.5 * 4 * z.sequences * z.s * z.s * z.heads * z.e;
}

// Scores, softmax, dropout and values; also what selective recomputation runs
// again.
std::vector<Operator> AttentionForward(const Job& job) {
  const Sizes z(job);
  if (job.training.attention == Attention::kFlash) {
    return {{.kind = OperatorKind::kFusedAttention,
             .flops = FusedAttentionFlops(z)}};
  }
  const double batch = z.sequences * z.heads;
  const double scores = batch * z.s * z.s;
  return {
      ScoreProduct(batch, z.s, z.s, z.e),
      Memory(scores * 2 * z.width),        // scale, mask and softmax
      Memory(scores * (2 * z.width + 1)),  // dropout and its mask
      ScoreProduct(batch, z.s, z.e, z.s),
      Memory(z.tokens * z.heads * z.e * 2 * z.width),  // back to token order
  };
}

std::vector<Operator> AttentionBackward(const Job& job) {
  const Sizes z(job);
  if (job.training.attention == Attention::kFlash) {
    // Scores once more, then two gradients each of scores and values.
    return {{.kind = OperatorKind::kFusedAttentionBackward,
             .flops = 2.5 * FusedAttentionFlops(z)}};
  }
  const double batch = z.sequences * z.heads;
  const double scores = batch * z.s * z.s;
  return {
      Memory(z.tokens * z.heads * z.e * 2 * z.width),
      ScoreProduct(batch, z.s, z.s, z.e),
      ScoreProduct(batch, z.s, z.e, z.s),
      Memory(scores * (2 * z.width + 1)),
      Memory(scores * 3 * z.width),
      ScoreProduct(batch, z.s, z.e, z.s),
      ScoreProduct(batch, z.s, z.e, z.s),
      Memory(z.tokens * (z.heads + 2 * z.kv_heads) * z.e * 2 * z.width),
  };
}

double WidenedFeedForward(const Job& job, const Sizes& z) {
  return job.model.gated_ffn ? 2 * z.f : z.f;
}

void Append(std::vector<Operator> operators, std::vector<Operator>& to) {
  to.insert(to.end(), operators.begin(), operators.end());
}

}  // namespace

double ActivationBytes(const Training& training) {
  return training.precision == Precision::kFp32 ||
                 training.precision == Precision::kTf32
             ? 4
             : 2;
}

double GradientBytes(const Training& training) {
  return training.fp32_gradients ? 4 : ActivationBytes(training);
}

Stretches LayerForward(const Job& job) {
  const Sizes z(job);
  const double projected = (z.heads + 2 * z.kv_heads) * z.e;
  const double widened = WidenedFeedForward(job, z);
  Stretches stretches(1);
  Open(stretches).push_back(NormForward(z));
  Meet(GroupEntry(job), stretches);
  Open(stretches).push_back(Product(1, z.tokens, projected, z.h));
  Append(AttentionForward(job), Open(stretches));
  Open(stretches).push_back(Product(1, z.tokens, z.h, z.heads * z.e));
  Meet(GroupExit(job), stretches);
  Open(stretches).push_back(ResidualForward(z));
  Open(stretches).push_back(NormForward(z));
  Meet(GroupEntry(job), stretches);
  Open(stretches).push_back(Product(1, z.tokens, widened, z.h));
  Open(stretches).push_back(Memory(z.tokens * (widened + z.f) * z.width));
  Open(stretches).push_back(Product(1, z.tokens, z.h, z.f));
  Meet(GroupExit(job), stretches);
  Open(stretches).push_back(ResidualForward(z));
  return stretches;
}

Stretches LayerBackward(const Job& job) {
  const Sizes z(job);
  const double projected = (z.heads + 2 * z.kv_heads) * z.e;
  const double widened = WidenedFeedForward(job, z);
  Stretches stretches;
  if (job.training.recompute == Recompute::kFull) {
    stretches = LayerForward(job);
    for (Stretch& stretch : stretches) stretch.recompute = true;
  }
  stretches.emplace_back();
  Open(stretches).push_back(ResidualBackward(z));
  Meet(GroupEntry(job), stretches);
  AddProductBackward(job, z.tokens, z.f, z.h, Open(stretches));
  Open(stretches).push_back(
      Memory(z.tokens * (2 * widened + z.f) * z.width, 2));
  MeetForKeptInput(job, stretches);
  AddProductBackward(job, z.tokens, z.h, widened, Open(stretches));
  Meet(GroupExit(job), stretches);
  Open(stretches).push_back(NormBackward(z));
  Open(stretches).push_back(ResidualBackward(z));
  Meet(GroupEntry(job), stretches);
  // A fused kernel never kept the scores: its backward already counts them.
  if (job.training.recompute == Recompute::kSelective &&
      job.training.attention == Attention::kUnfused) {
    stretches.insert(stretches.end() - 1,
                     Stretch{AttentionForward(job), std::nullopt, true});
  }
  AddProductBackward(job, z.tokens, z.heads * z.e, z.h, Open(stretches));
  Append(AttentionBackward(job), Open(stretches));
  MeetForKeptInput(job, stretches);
  AddProductBackward(job, z.tokens, z.h, projected, Open(stretches));
  Meet(GroupExit(job), stretches);
  Open(stretches).push_back(NormBackward(z));
  return stretches;
}

Stretches EmbeddingForward(const Job& job) {
  const Sizes z(job);
  Stretches stretches(1);
  // Rows read and written, positions added.
  Open(stretches).push_back(Memory(z.tokens * z.h * 4 * z.width, 2));
  Meet(GroupExit(job), stretches);
  Open(stretches).push_back(Memory(z.own_tokens * z.h * (2 * z.width + 1)));
  return stretches;
}

Stretches EmbeddingBackward(const Job& job) {
  const Sizes z(job);
  Stretches stretches(1);
  Open(stretches).push_back(Memory(z.own_tokens * z.h * (2 * z.width + 1)));
  Meet(GroupEntry(job), stretches);
  // Rows added to the gradient of the table.
  Open(stretches).push_back(
      Memory(z.tokens * z.h * (z.width + 2 * GradientBytes(job.training))));
  return stretches;
}

Stretches HeadForward(const Job& job) {
  const Sizes z(job);
  const double logits = z.tokens * z.vocabulary;
  Stretches stretches(1);
  Open(stretches).push_back(NormForward(z));
  Meet(GroupEntry(job), stretches);
  Open(stretches).push_back(Product(1, z.tokens, z.vocabulary, z.h));
  // Widened to 32 bit; largest, difference, exponential and sum each read it,
  // two of them write it.
  Open(stretches).push_back(Memory(logits * (z.width + 4 + 6 * 4), 5));
  if (job.parallelism.tensor > 1) {
    // Largest logit, the target's logit and the sum of each token.
    Meet(Collective{CollectiveKind::kAllReduce, z.tokens * 3 * 4}, stretches);
  }
  DropEmptyEnd(stretches);
  return stretches;
}

Stretches HeadBackward(const Job& job) {
  const Sizes z(job);
  const double logits = z.tokens * z.vocabulary;
  Stretches stretches(1);
  Open(stretches).push_back(Memory(logits * (2 * 4 + 4 + z.width), 2));
  MeetForKeptInput(job, stretches);
  AddProductBackward(job, z.tokens, z.h, z.vocabulary, Open(stretches));
  Meet(GroupExit(job), stretches);
  Open(stretches).push_back(NormBackward(z));
  return stretches;
}

std::vector<Operator> OptimizerUpdate(const Job& job, double parameters,
                                      double owned) {
  const double gradient = GradientBytes(job.training);
  const double weight = ActivationBytes(job.training);
  // Every gradient is brought to 32 bit and checked for overflow, read for
  // the norm, scaled; then Adam reads gradient, weight and two moments and
  // writes three of them, and the weight is rounded to its working precision.
  const double all = gradient + 4;
  const double own = 4 + 4 + 8 + 16 + 12 + 4 + weight;
  return {Memory(parameters * all + owned * own, 6)};
}

double FlopsOf(const Stretches& stretches) {
  double flops = 0;
  for (const Stretch& stretch : stretches) {
    for (const Operator& op : stretch.operators) flops += op.flops;
  }
  return flops;
}

BoundaryTraffic StageBoundary(const Job& job) {
  const Sizes z(job);
  const double whole = z.tokens * z.h * z.width;
  if (z.t == 1) return {.sent_bytes = whole};
  return {.sent_bytes = whole / z.t,
          .gathered_bytes = job.parallelism.sequence_parallel ? 0 : whole};
}

}  // namespace prism::workload
