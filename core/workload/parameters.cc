#include "core/workload/parameters.h"

#include <algorithm>

#include "core/workload/stages.h"

namespace prism::workload {
namespace {

// A norm's scale, and its shift where linear layers have biases as well (layer
// norm against root-mean-square norm).
double NormParameters(const Model& model) {
  const auto h = static_cast<double>(model.hidden);
  return model.linear_bias ? 2 * h : h;
}

SplitCount AttentionParameters(const Model& model) {
  const auto h = static_cast<double>(model.hidden);
  const auto e = static_cast<double>(model.head_size);
  const double queries = static_cast<double>(model.heads) * e;
  const double keys_and_values = 2 * static_cast<double>(model.kv_heads) * e;
  SplitCount count;
  count.split = h * (queries + keys_and_values) + queries * h;
  if (model.linear_bias) {
    count.split += queries + keys_and_values;
    count.whole = h;
  }
  return count;
}

SplitCount FeedForwardParameters(const Model& model, int64_t width) {
  const auto h = static_cast<double>(model.hidden);
  const auto f = static_cast<double>(width);
  const double widened = model.gated_ffn ? 2 * f : f;
  SplitCount count;
  count.split = h * widened + f * h;
  if (model.linear_bias) {
    count.split += widened;
    count.whole = h;
  }
  return count;
}

// Down to the narrow vectors, which have norms of their own, and up to the
// heads.
double LatentAttentionParameters(const Model& model,
                                 const LatentAttention& latent) {
  const auto h = static_cast<double>(model.hidden);
  const auto heads = static_cast<double>(model.heads);
  const auto plain = static_cast<double>(latent.plain_size);
  const auto position = static_cast<double>(latent.position_size);
  const auto value = static_cast<double>(latent.value_size);
  const auto q = static_cast<double>(latent.query_rank);
  const auto kv = static_cast<double>(latent.key_value_rank);
  const double query = heads * (plain + position);
  return (q > 0 ? h * q + q + q * query : h * query) +  // queries
         h * (kv + position) + kv + kv * heads * (plain + value) +
         heads * value * h;
}

double MixtureLayerParameters(const Model& model, const Mixture& mixture) {
  const auto experts = static_cast<double>(mixture.experts);
  const double router = static_cast<double>(model.hidden) * experts;
  return router +
         experts * FeedForwardParameters(model, mixture.expert_hidden).total() +
         (mixture.shared_hidden > 0
              ? FeedForwardParameters(model, mixture.shared_hidden).total()
              : 0);
}

}  // namespace

SplitCount LayerParameters(const Model& model) {
  SplitCount count = AttentionParameters(model);
  count += FeedForwardParameters(model, model.ffn_hidden);
  count.whole += 2 * NormParameters(model);
  return count;
}

SplitCount EmbeddingParameters(const Model& model) {
  const auto h = static_cast<double>(model.hidden);
  return {.split = static_cast<double>(model.vocabulary) * h,
          .whole = static_cast<double>(model.position_embeddings) * h};
}

SplitCount HeadParameters(const Model& model) {
  const double own_matrix =
      static_cast<double>(model.vocabulary) * static_cast<double>(model.hidden);
  return {.split = model.tied_embeddings ? 0 : own_matrix,
          .whole = NormParameters(model)};
}

double ParameterCount(const Model& model) {
  return static_cast<double>(model.layers) * LayerParameters(model).total() +
         EmbeddingParameters(model).total() + HeadParameters(model).total();
}

double ParameterCount(const MixtureModel& model) {
  const Model& dense = model.model;
  const auto layers = static_cast<double>(dense.layers);
  const auto wide = static_cast<double>(
      model.mixture ? std::min(model.mixture->dense_layers, dense.layers)
                    : dense.layers);
  const double attention =
      model.latent_attention
          ? LatentAttentionParameters(dense, *model.latent_attention)
          : AttentionParameters(dense).total();
  double count = layers * (attention + 2 * NormParameters(dense)) +
                 wide * FeedForwardParameters(dense, dense.ffn_hidden).total();
  if (model.mixture) {
    count += (layers - wide) * MixtureLayerParameters(dense, *model.mixture);
  }
  return count + EmbeddingParameters(dense).total() +
         HeadParameters(dense).total();
}

bool HoldsTiedCopy(const Job& job, int64_t stage) {
  return job.model.tied_embeddings && StageHasHead(job.parallelism, stage) &&
         !StageHasEmbedding(job.parallelism, stage);
}

double StageParameters(const Job& job, int64_t stage) {
  const int64_t t = job.parallelism.tensor;
  const auto layers = static_cast<double>(LayersOfStage(job, stage));
  double count = layers * LayerParameters(job.model).per_gpu(t);
  if (StageHasEmbedding(job.parallelism, stage)) {
    count += EmbeddingParameters(job.model).per_gpu(t);
  }
  if (StageHasHead(job.parallelism, stage)) {
    count += HeadParameters(job.model).per_gpu(t);
  }
  if (HoldsTiedCopy(job, stage)) {
    count += static_cast<double>(job.model.vocabulary) *
             static_cast<double>(job.model.hidden) / static_cast<double>(t);
  }
  return count;
}

}  // namespace prism::workload
