// Parameter counts of a transformer, whole and per GPU.
//
// Requires of every function: the job is valid.
#ifndef PRISM_CORE_WORKLOAD_PARAMETERS_H_
#define PRISM_CORE_WORKLOAD_PARAMETERS_H_

#include <optional>

#include "core/workload/job.h"

namespace prism::workload {

// Counts are doubles: they are used as factors, and exact up to 2^53.

// Weights and biases that a tensor group of `tensor` ranks splits, and those
// every rank holds whole (norms, biases after a sum over the group).
struct SplitCount {
  double split = 0;
  double whole = 0;

  SplitCount& operator+=(const SplitCount& other) {
    split += other.split;
    whole += other.whole;
    return *this;
  }
  double total() const { return split + whole; }
  double per_gpu(int64_t tensor) const {
    return split / static_cast<double>(tensor) + whole;
  }
};

SplitCount LayerParameters(const Model& model);

// Token and learned position embeddings.
SplitCount EmbeddingParameters(const Model& model);

// Final norm, and the head's own matrix where embeddings are not tied.
SplitCount HeadParameters(const Model& model);

// Of the whole model.
double ParameterCount(const Model& model);

// Attention whose queries, keys and values come from narrow vectors (DeepSeek,
// arXiv 2405.04434, section 2.1); in place of the heads' own sizes.
struct LatentAttention {
  int64_t query_rank = 0;  // 0: queries straight from the residual stream
  int64_t key_value_rank = 1;
  int64_t plain_size = 1;     // of a head's query and key, without position
  int64_t position_size = 0;  // with it; the key's is shared by all heads
  int64_t value_size = 1;
};

// Feed-forward layers of which every token takes some (arXiv 2101.03961), and
// some that every token takes besides.
struct Mixture {
  int64_t experts = 1;
  int64_t expert_hidden = 1;
  int64_t shared_hidden = 0;  // of all shared experts together
  int64_t dense_layers = 0;   // that come first, with the model's ffn_hidden
};

// A model that is not dense, or whose attention is latent. Only its parameters
// are known so far: no job has one.
struct MixtureModel {
  Model model;
  std::optional<LatentAttention> latent_attention;
  std::optional<Mixture> mixture;
};

double ParameterCount(const MixtureModel& model);

// On one GPU of pipeline stage `stage`. A tied embedding is held, and updated,
// on the stage of the embedding and on that of the head.
double StageParameters(const Job& job, int64_t stage);

// Whether the stage holds a copy of the embedding for its head, beside the one
// on the embedding's stage. Where both ends lie on one stage there is none.
bool HoldsTiedCopy(const Job& job, int64_t stage);

}  // namespace prism::workload

#endif  // PRISM_CORE_WORKLOAD_PARAMETERS_H_
