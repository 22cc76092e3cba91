#include "core/workload/parameters.h"

namespace prism::workload {
namespace {

// A norm's scale, and its shift where linear layers have biases as well (layer
// norm against root-mean-square norm).
double NormParameters(const Model& model) {
  const auto h = static_cast<double>(model.hidden);
  return model.linear_bias ? 2 * h : h;
}

}  // namespace

SplitCount LayerParameters(const Model& model) {
  const auto h = static_cast<double>(model.hidden);
  const auto e = static_cast<double>(model.head_size);
  const double queries = static_cast<double>(model.heads) * e;
  const double keys_and_values = 2 * static_cast<double>(model.kv_heads) * e;
  const auto f = static_cast<double>(model.ffn_hidden);
  const double widened = model.gated_ffn ? 2 * f : f;
  SplitCount count;
  count.split = h * (queries + keys_and_values) + queries * h +  // attention
                h * widened + f * h;                             // feed-forward
  count.whole = 2 * NormParameters(model);
  if (model.linear_bias) {
    count.split += queries + keys_and_values + widened;
    count.whole += 2 * h;
  }
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

int64_t LayersPerVirtualStage(const Job& job) {
  return job.model.layers /
         (job.parallelism.pipeline * job.parallelism.virtual_stages);
}

bool HoldsTiedCopy(const Job& job, int64_t stage) {
  return job.model.tied_embeddings && job.parallelism.pipeline > 1 &&
         stage == job.parallelism.pipeline - 1;
}

double StageParameters(const Job& job, int64_t stage) {
  const int64_t t = job.parallelism.tensor;
  const auto layers = static_cast<double>(LayersPerVirtualStage(job) *
                                          job.parallelism.virtual_stages);
  double count = layers * LayerParameters(job.model).per_gpu(t);
  if (stage == 0) count += EmbeddingParameters(job.model).per_gpu(t);
  if (stage == job.parallelism.pipeline - 1) {
    count += HeadParameters(job.model).per_gpu(t);
  }
  if (HoldsTiedCopy(job, stage)) {
    count += static_cast<double>(job.model.vocabulary) *
             static_cast<double>(job.model.hidden) / static_cast<double>(t);
  }
  return count;
}

}  // namespace prism::workload
