#include "core/workload/activation_memory.h"

#include "core/workload/operators.h"
#include "core/workload/sizes.h"

namespace prism::workload {
namespace {

bool GathersSequence(const Job& job) {
  return job.parallelism.sequence_parallel && job.parallelism.tensor > 1;
}

bool ExchangesHeads(const Job& job) {
  return job.parallelism.context > 1 &&
         job.parallelism.context_kind == ContextKind::kAllToAll;
}

// Bytes of a kept input of a product that may be narrow.
double InputWidth(const Job& job) {
  if (job.training.framework != Framework::kMegatronCore) {
    return ActivationBytes(job.training);
  }
  return NarrowBytes(job.training.precision)
      .value_or(ActivationBytes(job.training));
}

double ScoreBytes(const Job& job, const Sizes& z, Recompute recompute) {
  if (job.training.attention != Attention::kUnfused ||
      recompute == Recompute::kSelective) {
    return 0;
  }
  const double scores = z.tokens * z.heads * z.s;
  // Softmax output; dropout output and its mask.
  return scores * (z.width + (job.training.dropout ? z.width + 1 : 0));
}

// Queries, keys, values and the attention's result, which is the input of the
// product behind it: once more where it was exchanged or rounded in between.
double AttentionBytes(const Job& job, const Sizes& z) {
  const double result = z.heads * z.e;
  const double input = InputWidth(job);
  const double again = ExchangesHeads(job) ? z.width
                       : input < z.width   ? input
                                           : 0;
  return z.tokens * ((z.projected() + result) * z.width + result * again);
}

// Before and after the activation function. Where each operation is by itself
// the gate keeps its two factors as well.
double FeedForwardBytes(const Job& job, const Sizes& z) {
  const double factors =
      FusionOf(job.training) == Fusion::kNone && job.model.gated_ffn ? z.f : 0;
  return z.tokens * ((z.widened + factors) * z.width + z.f * InputWidth(job));
}

// Outputs of two norms: the inputs of products. PyTorch keeps them as the
// tensor group has gathered them, Megatron-LM each its part.
double NormOutputBytes(const Job& job, const Sizes& z) {
  const bool parts = FusionOf(job.training) == Fusion::kByHand;
  return (parts ? z.own_tokens : z.tokens) * z.h * 2 * InputWidth(job);
}

// Inputs of two norms, and two dropout masks.
double StreamBytes(const Job& job, const Sizes& z) {
  double bytes = 2 * z.width;
  if (job.training.dropout) bytes += 2;
  // Root-mean-square norms by single operations keep their input in 32 bit
  // and their result before the weight.
  if (FusionOf(job.training) == Fusion::kNone && !job.model.linear_bias) {
    bytes += 2 * (4 + z.width);
  }
  return z.own_tokens * z.h * bytes + NormOutputBytes(job, z);
}

// What a compiler keeps: inputs of norms, and results of products that no
// element-wise kernel can compute again.
double CompiledBytes(const Job& job, const Sizes& z) {
  // Only what was gathered is not computed again.
  const double gathered = GathersSequence(job) ? NormOutputBytes(job, z) : 0;
  return gathered + z.own_tokens * z.h * 2 * z.width +
         z.tokens * (z.projected() + z.heads * z.e + z.widened) * z.width;
}

// Every other product of torchtitan's selective recomputation: queries, values,
// one feed-forward input and the output; the layer's input and the attention's
// result.
double EveryOtherProductBytes(const Sizes& z) {
  return z.own_tokens * z.h * 2 * z.width +
         z.tokens * ((2 * z.heads + z.kv_heads) * z.e + z.f) * z.width;
}

}  // namespace

double KeptLayerBytes(const Job& job, Recompute recompute) {
  const Sizes z(job);
  if (recompute == Recompute::kFull) return z.own_tokens * z.h * z.width;
  if (recompute == Recompute::kSelective &&
      job.training.framework == Framework::kTorchtitan) {
    return EveryOtherProductBytes(z);
  }
  const double scores = ScoreBytes(job, z, recompute);
  if (FusionOf(job.training) == Fusion::kCompiled) {
    return CompiledBytes(job, z) + scores;
  }
  return StreamBytes(job, z) + AttentionBytes(job, z) +
         FeedForwardBytes(job, z) + scores;
}

double LayerBytesForWeights(const Job& job) {
  const Sizes z(job);
  const double gradients = z.projected() + z.widened + 2 * z.h;
  return NormOutputBytes(job, z) +
         z.tokens * (z.heads * z.e + z.f + gradients) * InputWidth(job);
}

double HeadBytesForWeights(const Job& job) {
  const Sizes z(job);
  return (z.own_tokens * z.h + z.tokens * z.vocabulary) * z.width;
}

double LayerBackwardBytes(const Job& job) {
  const Sizes z(job);
  const double gathered = GathersSequence(job) ? 2 * z.tokens * z.h : 0;
  return (z.tokens * z.widened + 2 * z.own_tokens * z.h + gathered) * z.width;
}

double LogitBytes(const Job& job) {
  const Sizes z(job);
  const Training& training = job.training;
  const double logits = z.tokens * z.vocabulary;
  const bool by_hand = FusionOf(training) == Fusion::kByHand;
  // Transformer Engine puts the gradient in their place.
  if (training.fused_cross_entropy) {
    return logits * z.width * (by_hand ? 1 : 2);
  }
  // In 32 bit: logarithms of the softmax, and a gradient on either side of it;
  // where a tensor group shares the vocabulary no kernel does that at once, and
  // probabilities and their product with the gradient are there too.
  if (!by_hand) return logits * (z.t > 1 ? 20 : 12);
  // A 32-bit copy, in which Megatron-LM computes in place and Megatron-core
  // does not.
  const double copies = training.framework == Framework::kMegatronLm ? 1 : 2;
  return logits * (z.width + 4 * copies);
}

double HeadInputBytes(const Job& job) {
  const Sizes z(job);
  const double gathered = GathersSequence(job) ? z.tokens * z.h : 0;
  return (2 * z.own_tokens * z.h + gathered) * z.width;
}

}  // namespace prism::workload
