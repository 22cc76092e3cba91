#include "core/workload/operators.h"

#include <utility>

#include "core/workload/attention.h"
#include "core/workload/elementwise.h"
#include "core/workload/sizes.h"

namespace prism::workload {
namespace {

Operator Product(double m, double n, double k) {
  return {.kind = OperatorKind::kMatrixProduct,
          .m = m,
          .n = n,
          .k = k,
          .flops = 2 * m * n * k};
}

Operator OfWeights(Operator op) {
  op.of_weights = true;
  return op;
}

std::vector<Operator>& Open(Stretches& stretches) {
  return stretches.back().operators;
}

// Leaves out what is nothing.
void Add(const Operator& op, Stretches& stretches) {
  if (op.kind == OperatorKind::kMemory && op.bytes == 0) return;
  Open(stretches).push_back(op);
}

// Matrices that share their input, by what each puts out.
using Outputs = std::vector<double>;

Outputs ProjectionOutputs(const Job& job, const Sizes& z) {
  if (job.training.framework != Framework::kTorchtitan) return {z.projected()};
  return {z.heads * z.e, z.kv_heads * z.e, z.kv_heads * z.e};
}

Outputs WidenedOutputs(const Job& job, const Sizes& z) {
  const bool apart =
      job.model.gated_ffn && job.training.framework == Framework::kTorchtitan;
  return apart ? Outputs{z.f, z.f} : Outputs{z.widened};
}

void AddProducts(double tokens, double inputs, const Outputs& outputs,
                 Stretches& stretches) {
  for (double output : outputs) {
    Open(stretches).push_back(Product(tokens, output, inputs));
  }
}

// Megatron-LM adds the weight's gradient to that of earlier micro-batches by a
// kernel of its own: read, write, and the product read back. Later frameworks
// let the product do it, or add shares that the data group has reduced.
Operator GradientSum(const Job& job, double weights) {
  if (job.microbatches() == 1 ||
      job.training.framework != Framework::kMegatronLm) {
    return MemoryOperator(0, 0);
  }
  return MemoryOperator(weights * (2 * GradientBytes(job.training) +
                                   ActivationBytes(job.training)));
}

// Gradient of the products' input, then of their weights.
void AddProductsBackward(const Job& job, double tokens, double inputs,
                         const Outputs& outputs, Stretches& stretches) {
  for (double output : outputs) {
    Open(stretches).push_back(Product(tokens, inputs, output));
    Open(stretches).push_back(OfWeights(Product(inputs, output, tokens)));
    Add(OfWeights(GradientSum(job, inputs * output)), stretches);
  }
}

// Bytes of an activation on its way into a product: Transformer Engine gathers
// what it has already rounded.
double InputBytes(const Job& job) {
  const double wide = ActivationBytes(job.training);
  return job.training.framework == Framework::kMegatronCore
             ? NarrowBytes(job.training.precision).value_or(wide)
             : wide;
}

// Start and end of what the tensor group splits: sequence parallelism gathers
// and scatters, otherwise the sums at the end are reduced on every rank.
std::optional<Collective> GroupEntry(const Job& job, double width) {
  if (job.parallelism.tensor == 1 || !job.parallelism.sequence_parallel) {
    return std::nullopt;
  }
  const Sizes z(job);
  return Collective{CollectiveKind::kAllGather, z.tokens * z.h * width};
}

std::optional<Collective> GroupEntry(const Job& job) {
  return GroupEntry(job, InputBytes(job));
}

// Under sequence parallelism each GPU keeps its share of a product's input,
// and the weight's gradient needs the whole once more (arXiv 2205.05198,
// section 4.2.2).
std::optional<Collective> InputAgain(const Job& job, double width) {
  std::optional<Collective> gather = GroupEntry(job, width);
  if (gather) gather->of_weights = true;
  return gather;
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

// Goes on with `more`, whose first stretch continues the open one.
void Continue(Stretches more, Stretches& stretches) {
  Stretch& open = stretches.back();
  Stretch& first = more.front();
  open.operators.insert(open.operators.end(), first.operators.begin(),
                        first.operators.end());
  open.then = first.then;
  stretches.insert(stretches.end(), more.begin() + 1, more.end());
}

void DropEmptyEnd(Stretches& stretches) {
  if (stretches.back().operators.empty() && !stretches.back().then) {
    stretches.pop_back();
  }
}

Stretches Again(Stretches stretches) {
  for (Stretch& stretch : stretches) stretch.recompute = true;
  return stretches;
}

// torchtitan keeps attention and every other product of a layer; second,
// fourth and sixth run again, and all that is element-wise.
Stretches EveryOtherProduct(const Job& job) {
  const Sizes z(job);
  const Elementwise elementwise(job);
  Stretches stretches(1);
  Add(elementwise.NormForward(NormInput::kStored), stretches);
  Meet(GroupEntry(job), stretches);
  AddProducts(z.tokens, z.h, {z.kv_heads * z.e}, stretches);
  Add(elementwise.Rotation(), stretches);
  AddProducts(z.tokens, z.heads * z.e, {z.h}, stretches);
  Add(elementwise.ResidualForward(), stretches);
  Add(elementwise.NormForward(NormInput::kJustSummed), stretches);
  Meet(GroupEntry(job), stretches);
  AddProducts(z.tokens, z.h, {z.f}, stretches);
  Add(elementwise.ActivationForward(), stretches);
  return Again(stretches);
}

// What is computed again before the layer's backward.
Stretches RecomputedBefore(const Job& job, Recompute recompute) {
  if (recompute == Recompute::kFull) return Again(LayerForward(job));
  if (recompute == Recompute::kSelective &&
      job.training.framework == Framework::kTorchtitan) {
    return EveryOtherProduct(job);
  }
  return {};
}

// Scores, softmax and values again, in the middle of the backward. A fused
// kernel never kept the scores: its backward already counts them.
void AddScoresAgain(const Job& job, Recompute recompute, Stretches& stretches) {
  if (recompute != Recompute::kSelective ||
      job.training.framework == Framework::kTorchtitan ||
      job.training.attention != Attention::kUnfused) {
    return;
  }
  Stretches again = Again(AttentionForward(job));
  DropEmptyEnd(again);
  stretches.insert(stretches.end() - 1, again.begin(), again.end());
}

void AddFeedForwardBackward(const Job& job, const Elementwise& elementwise,
                            Stretches& stretches) {
  const Sizes z(job);
  Add(elementwise.ResidualBackward(), stretches);
  Add(elementwise.Cast(z.own_tokens * z.h), stretches);
  Meet(GroupEntry(job), stretches);
  AddProductsBackward(job, z.tokens, z.f, {z.h}, stretches);
  Add(elementwise.ActivationBackward(), stretches);
  Add(elementwise.Cast(z.tokens * z.widened), stretches);
  Meet(InputAgain(job, InputBytes(job)), stretches);
  AddProductsBackward(job, z.tokens, z.h, WidenedOutputs(job, z), stretches);
  Meet(GroupExit(job), stretches);
  Add(elementwise.NormBackward(), stretches);
}

void AddAttentionBackward(const Job& job, Recompute recompute,
                          const Elementwise& elementwise,
                          Stretches& stretches) {
  const Sizes z(job);
  Add(elementwise.ResidualBackward(), stretches);
  Add(elementwise.Cast(z.own_tokens * z.h), stretches);
  Meet(GroupEntry(job), stretches);
  AddScoresAgain(job, recompute, stretches);
  AddProductsBackward(job, z.tokens, z.heads * z.e, {z.h}, stretches);
  Continue(AttentionBackward(job), stretches);
  Add(elementwise.Rotation(), stretches);
  Add(elementwise.Cast(z.tokens * z.projected()), stretches);
  Meet(InputAgain(job, InputBytes(job)), stretches);
  AddProductsBackward(job, z.tokens, z.h, ProjectionOutputs(job, z), stretches);
  Meet(GroupExit(job), stretches);
  Add(elementwise.NormBackward(), stretches);
}

// Of the loss, by who computes it: bytes for each logit, and kernels.
struct LossWork {
  double bytes = 0;
  double kernels = 0;
};

LossWork LossForward(const Training& training, double width) {
  // One kernel finds largest and sum, another writes the gradient in place.
  if (training.fused_cross_entropy) return {3 * width, 2};
  // Widened to 32 bit, then logarithms of the softmax.
  if (FusionOf(training) != Fusion::kByHand) return {width + 4 + 2 * 4, 2};
  // Widened to 32 bit; largest, difference, exponential and sum each read it,
  // two of them write it.
  return {width + 4 + 6 * 4, 5};
}

LossWork LossBackward(const Training& training, double width) {
  if (training.fused_cross_entropy) return {2 * width, 1};
  // A gradient of zeros but for the target, through the softmax, narrowed.
  if (FusionOf(training) != Fusion::kByHand) return {4 + 3 * 4 + 4 + width, 3};
  return {2 * 4 + 4 + width, 2};
}

// The head's products stay as wide as activations.
void Widen(Stretches& stretches) {
  for (Stretch& stretch : stretches) {
    for (Operator& op : stretch.operators) op.low_precision = false;
  }
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
  const Elementwise elementwise(job);
  Stretches stretches(1);
  Add(elementwise.NormForward(NormInput::kStored), stretches);
  Meet(GroupEntry(job), stretches);
  AddProducts(z.tokens, z.h, ProjectionOutputs(job, z), stretches);
  Add(elementwise.Rotation(), stretches);
  Continue(AttentionForward(job), stretches);
  Add(elementwise.Cast(z.tokens * z.heads * z.e), stretches);
  AddProducts(z.tokens, z.heads * z.e, {z.h}, stretches);
  Meet(GroupExit(job), stretches);
  Add(elementwise.ResidualForward(), stretches);
  Add(elementwise.NormForward(NormInput::kJustSummed), stretches);
  Meet(GroupEntry(job), stretches);
  AddProducts(z.tokens, z.h, WidenedOutputs(job, z), stretches);
  Add(elementwise.ActivationForward(), stretches);
  Add(elementwise.Cast(z.tokens * z.f), stretches);
  AddProducts(z.tokens, z.f, {z.h}, stretches);
  Meet(GroupExit(job), stretches);
  Add(elementwise.ResidualForward(), stretches);
  return stretches;
}

Stretches LayerBackward(const Job& job, Recompute recompute) {
  const Elementwise elementwise(job);
  Stretches stretches = RecomputedBefore(job, recompute);
  stretches.emplace_back();
  AddFeedForwardBackward(job, elementwise, stretches);
  AddAttentionBackward(job, recompute, elementwise, stretches);
  return stretches;
}

Stretches LayerBackward(const Job& job) {
  return LayerBackward(job, job.training.recompute);
}

Stretches EmbeddingForward(const Job& job) {
  const Sizes z(job);
  const bool positions = job.model.position_embeddings > 0;
  Stretches stretches(1);
  // Rows read and written, positions added.
  Add(MemoryOperator(z.tokens * z.h * (positions ? 4 : 2) * z.width,
                     positions ? 2 : 1),
      stretches);
  Meet(GroupExit(job), stretches);
  if (job.training.dropout) {
    Add(MemoryOperator(z.own_tokens * z.h * (2 * z.width + 1)), stretches);
  }
  DropEmptyEnd(stretches);
  return stretches;
}

Stretches EmbeddingBackward(const Job& job) {
  const Sizes z(job);
  Stretches stretches(1);
  if (job.training.dropout) {
    Add(MemoryOperator(z.own_tokens * z.h * (2 * z.width + 1)), stretches);
  }
  Meet(GroupEntry(job, z.width), stretches);
  // Rows added to the gradient of the table.
  Add(MemoryOperator(z.tokens * z.h *
                     (z.width + 2 * GradientBytes(job.training))),
      stretches);
  return stretches;
}

Stretches HeadForward(const Job& job) {
  const Sizes z(job);
  const LossWork loss = LossForward(job.training, z.width);
  Stretches stretches(1);
  Add(Elementwise(job).NormForward(NormInput::kStored), stretches);
  Meet(GroupEntry(job, z.width), stretches);
  AddProducts(z.tokens, z.h, {z.vocabulary}, stretches);
  Add(MemoryOperator(z.tokens * z.vocabulary * loss.bytes, loss.kernels),
      stretches);
  if (job.parallelism.tensor > 1) {
    // Largest logit, the target's logit and the sum of each token.
    Meet(Collective{CollectiveKind::kAllReduce, z.tokens * 3 * 4}, stretches);
  }
  DropEmptyEnd(stretches);
  Widen(stretches);
  return stretches;
}

Stretches HeadBackward(const Job& job) {
  const Sizes z(job);
  const LossWork loss = LossBackward(job.training, z.width);
  Stretches stretches(1);
  Add(MemoryOperator(z.tokens * z.vocabulary * loss.bytes, loss.kernels),
      stretches);
  Meet(InputAgain(job, z.width), stretches);
  AddProductsBackward(job, z.tokens, z.h, {z.vocabulary}, stretches);
  Meet(GroupExit(job), stretches);
  Add(Elementwise(job).NormBackward(), stretches);
  Widen(stretches);
  return stretches;
}

std::vector<Operator> OptimizerUpdate(const Job& job, double parameters,
                                      double owned) {
  const double gradient = GradientBytes(job.training);
  const double weight = ActivationBytes(job.training);
  // Adam reads gradient, weight and two moments and writes three of them.
  const double adam = 16 + 12;
  if (job.training.framework == Framework::kMegatronLm) {
    // Every gradient is brought to 32 bit and checked for overflow, read for
    // the norm and scaled; after Adam the weight is rounded to its working
    // precision.
    return {MemoryOperator(
        parameters * (gradient + 4) + owned * (4 + 4 + 8 + adam + 4 + weight),
        6)};
  }
  // Gradients are 32 bit already: read for the norm, scaled. Weights that are
  // sharded whole stay in 32 bit; they are rounded when they are gathered.
  const bool rounds = job.parallelism.sharding != Sharding::kZero3;
  return {MemoryOperator(owned * (4 + 8 + adam + (rounds ? weight : 0)), 4)};
}

OffloadBytes OffloadTraffic(const Job& job, double owned) {
  // As the update of other frameworks, on the host.
  return {.to_host = owned * GradientBytes(job.training),
          .from_host = owned * ActivationBytes(job.training),
          .host_memory = owned * (4 + 16 + 12)};
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
