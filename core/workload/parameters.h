// Parameter counts of a dense transformer, whole and per GPU.
//
// Requires of every function: the job is valid.
#ifndef PRISM_CORE_WORKLOAD_PARAMETERS_H_
#define PRISM_CORE_WORKLOAD_PARAMETERS_H_

#include "core/workload/job.h"

namespace prism::workload {

// Counts are doubles: they are used as factors, and exact up to 2^53.

// Weights and biases that a tensor group of `tensor` ranks splits, and those
// every rank holds whole (norms, biases after a sum over the group).
struct SplitCount {
  double split = 0;
  double whole = 0;

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

// On one GPU of pipeline stage `stage`. A tied embedding is held, and updated,
// on the first and on the last stage.
double StageParameters(const Job& job, int64_t stage);

// Layers of one virtual stage. Requires: they divide.
int64_t LayersPerVirtualStage(const Job& job);

// Whether the last stage holds a copy of the embedding for its head.
bool HoldsTiedCopy(const Job& job, int64_t stage);

}  // namespace prism::workload

#endif  // PRISM_CORE_WORKLOAD_PARAMETERS_H_
