// RankMap: which GPU runs which rank of the step graph.
//
// A job is launched as ranks 0, 1, 2, ... over its nodes, numbered by its rank
// order; the graph numbers ranks (replica * stages + stage) * lanes + lane. The
// lanes of a stage are its context ranks times their tensor ranks: lane =
// context rank * tensor + tensor rank.
// Immutable after construction; safe to share between threads.
#ifndef PRISM_CORE_ESTIMATE_RANK_MAP_H_
#define PRISM_CORE_ESTIMATE_RANK_MAP_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/estimate/placement.h"
#include "core/hardware/cluster.h"
#include "core/workload/job.h"
#include "core/workload/stages.h"

namespace prism::estimate {

class RankMap final {
 public:
  // Requires: the three are valid and fit each other. Copies what it needs.
  RankMap(const workload::Parallelism& parallelism,
          const hardware::Cluster& cluster, const Placement& placement);

  // Rank as launched.
  int64_t LaunchedRank(int64_t replica, int64_t stage, int64_t lane) const;

  // GPU of the cluster: node * gpus_per_node + index in the node.
  int64_t Gpu(int64_t replica, int64_t stage, int64_t lane) const;
  int64_t Node(int64_t replica, int64_t stage, int64_t lane) const;

  // GPUs of a group, in order. Of a replica's stage: the tensor group of a
  // context rank, the context group of a tensor rank. Of a stage: the data
  // group of a tensor rank, all ranks that hold the same part of the model.
  std::vector<int64_t> TensorGroup(int64_t replica, int64_t stage,
                                   int64_t context_rank) const;
  std::vector<int64_t> ContextGroup(int64_t replica, int64_t stage,
                                    int64_t tensor_rank) const;
  std::vector<int64_t> DataGroup(int64_t stage, int64_t tensor_rank) const;

  // Position in the placement of the node that runs a launched rank.
  int64_t Slot(int64_t launched_rank) const {
    return launched_rank / gpus_per_node_;
  }
  // GPUs of that node which the job uses.
  int64_t GpusOfSlot(int64_t slot) const {
    return std::min(gpus_per_node_, gpus() - slot * gpus_per_node_);
  }
  int64_t NodeOfSlot(int64_t slot) const {
    return nodes_.empty() ? slot : nodes_[static_cast<size_t>(slot)];
  }

  int64_t replicas() const { return parallelism_.data; }
  int64_t stages() const { return parallelism_.pipeline; }
  int64_t tensor() const { return parallelism_.tensor; }
  int64_t context() const { return parallelism_.context; }
  int64_t lanes() const { return tensor() * context(); }
  // Ranks of a data group that hold one sharded copy, one after another.
  int64_t shards() const { return parallelism_.shards(); }
  // Whether activations go from the last stage to the first.
  bool loops() const {
    return parallelism_.virtual_stages > 1 &&
           !workload::FoldsPipeline(parallelism_);
  }
  // Whether stages i and stages() - 1 - i hold the same layers.
  bool has_twins() const { return workload::Chains(parallelism_.schedule) > 1; }
  int64_t gpus() const { return parallelism_.gpus(); }

 private:
  workload::Parallelism parallelism_;
  int64_t gpus_per_node_;
  std::vector<int64_t> nodes_;  // empty: 0, 1, 2, ...
};

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_RANK_MAP_H_
