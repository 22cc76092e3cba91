// Layout: which positions of a job's node list run which ranks.
//
// Ranks fill nodes in the order of the list, gpus_per_node at a time; a cell
// is one stage of one replica. Immutable; safe to share between threads.
#ifndef PRISM_CORE_PLACEMENT_LAYOUT_H_
#define PRISM_CORE_PLACEMENT_LAYOUT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/estimate/rank_map.h"
#include "core/workload/job.h"

namespace prism::placement {

// Ranks of one group that share a node.
struct Seat {
  int32_t position = 0;
  int32_t ranks = 1;

  bool operator==(const Seat&) const = default;
};

class Layout final {
 public:
  // Requires: all sizes at least 1.
  Layout(const workload::Parallelism& parallelism, int64_t gpus_per_node);

  int replicas() const { return replicas_; }
  int stages() const { return stages_; }
  int lanes() const { return lanes_; }
  // Nodes the job takes.
  int positions() const { return positions_; }
  // GPUs it uses of the node at `position`.
  int GpusAt(int position) const;
  int gpus() const { return replicas_ * stages_ * lanes_; }

  // Where the lanes of a cell run: its tensor group.
  std::span<const Seat> Cell(int replica, int stage) const {
    return cells_[replica * stages_ + stage];
  }
  // Cells (replica * stages + stage) with ranks at `position`, ascending.
  std::span<const int32_t> CellsAt(int position) const {
    return cells_at_[position];
  }

 private:
  void AddCells(const estimate::RankMap& ranks, int stage);

  int replicas_;
  int stages_;
  int lanes_;
  int64_t gpus_per_node_;
  int positions_;
  std::vector<std::vector<Seat>> cells_;
  std::vector<std::vector<int32_t>> cells_at_;
};

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_LAYOUT_H_
