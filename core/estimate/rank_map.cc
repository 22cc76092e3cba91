#include "core/estimate/rank_map.h"

namespace prism::estimate {

RankMap::RankMap(const workload::Parallelism& parallelism,
                 const hardware::Cluster& cluster, const Placement& placement)
    : parallelism_(parallelism),
      gpus_per_node_(cluster.gpus_per_node),
      nodes_(placement.nodes) {}

int64_t RankMap::LaunchedRank(int64_t replica, int64_t stage,
                              int64_t lane) const {
  switch (parallelism_.rank_order) {
    case workload::RankOrder::kTensorDataPipeline:
      return lane + lanes() * (replica + replicas() * stage);
    case workload::RankOrder::kTensorPipelineData:
      return lane + lanes() * (stage + stages() * replica);
  }
  return 0;
}

int64_t RankMap::Gpu(int64_t replica, int64_t stage, int64_t lane) const {
  const int64_t rank = LaunchedRank(replica, stage, lane);
  if (nodes_.empty()) return rank;
  const auto slot = static_cast<size_t>(rank / gpus_per_node_);
  return nodes_[slot] * gpus_per_node_ + rank % gpus_per_node_;
}

int64_t RankMap::Node(int64_t replica, int64_t stage, int64_t lane) const {
  return Gpu(replica, stage, lane) / gpus_per_node_;
}

std::vector<int64_t> RankMap::TensorGroup(int64_t replica, int64_t stage,
                                          int64_t context_rank) const {
  std::vector<int64_t> gpus;
  for (int64_t rank = 0; rank < tensor(); ++rank) {
    gpus.push_back(Gpu(replica, stage, context_rank * tensor() + rank));
  }
  return gpus;
}

std::vector<int64_t> RankMap::ContextGroup(int64_t replica, int64_t stage,
                                           int64_t tensor_rank) const {
  std::vector<int64_t> gpus;
  for (int64_t rank = 0; rank < context(); ++rank) {
    gpus.push_back(Gpu(replica, stage, rank * tensor() + tensor_rank));
  }
  return gpus;
}

std::vector<int64_t> RankMap::DataGroup(int64_t stage,
                                        int64_t tensor_rank) const {
  std::vector<int64_t> gpus;
  gpus.reserve(static_cast<size_t>(replicas() * context()));
  for (int64_t replica = 0; replica < replicas(); ++replica) {
    for (int64_t rank = 0; rank < context(); ++rank) {
      gpus.push_back(Gpu(replica, stage, rank * tensor() + tensor_rank));
    }
  }
  return gpus;
}

}  // namespace prism::estimate
