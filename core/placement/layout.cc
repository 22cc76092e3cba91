#include "core/placement/layout.h"

#include <algorithm>

namespace prism::placement {
namespace {

// Adds one rank to a group whose ranks come in ascending order.
void Seated(int32_t position, std::vector<Seat>& group) {
  if (!group.empty() && group.back().position == position) {
    ++group.back().ranks;
  } else {
    group.push_back({.position = position});
  }
}

}  // namespace

Layout::Layout(const workload::Parallelism& parallelism, int64_t gpus_per_node)
    : replicas_(static_cast<int>(parallelism.data)),
      stages_(static_cast<int>(parallelism.pipeline)),
      lanes_(static_cast<int>(parallelism.tensor)),
      gpus_per_node_(gpus_per_node),
      positions_(static_cast<int>((parallelism.gpus() + gpus_per_node - 1) /
                                  gpus_per_node)),
      cells_(static_cast<size_t>(replicas_) * stages_),
      cells_at_(positions_) {
  hardware::Cluster cluster;
  cluster.gpus_per_node = gpus_per_node;
  const estimate::RankMap ranks(parallelism, cluster, {});
  for (int s = 0; s < stages_; ++s) AddCells(ranks, s);
  for (auto& cells : cells_at_) std::sort(cells.begin(), cells.end());
}

void Layout::AddCells(const estimate::RankMap& ranks, int stage) {
  for (int r = 0; r < replicas_; ++r) {
    const int cell = r * stages_ + stage;
    for (int l = 0; l < lanes_; ++l) {
      Seated(static_cast<int32_t>(ranks.Node(r, stage, l)), cells_[cell]);
    }
    for (const Seat& seat : cells_[cell]) {
      cells_at_[seat.position].push_back(cell);
    }
  }
}

int Layout::GpusAt(int position) const {
  const int64_t first = int64_t{position} * gpus_per_node_;
  return static_cast<int>(std::min<int64_t>(gpus_per_node_, gpus() - first));
}

}  // namespace prism::placement
