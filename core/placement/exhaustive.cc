#include "core/placement/exhaustive.h"

#include <algorithm>
#include <numeric>

namespace prism::placement {
namespace {

// Exchanging two replicas changes nothing where each has nodes of its own: then
// replicas from the second on can be asked to come in the order of their first
// nodes. The data groups' rings keep their members in another order, which
// only slow paths can tell.
bool ReplicasAlike(const JobModel& model) {
  const Layout& layout = model.layout();
  if (!model.cluster().path_states.empty()) return false;
  for (int position = 0; position < layout.positions(); ++position) {
    const auto cells = layout.CellsAt(position);
    if (cells.front() / layout.stages() != cells.back() / layout.stages()) {
      return false;
    }
  }
  return true;
}

class Enumeration final {
 public:
  Enumeration(const JobModel& model, const Pools& pools, const Pool& pool,
              const std::function<bool(const NodeList&)>& visit)
      : pools_(pools),
        pool_(pool.nodes),
        visit_(visit),
        placement_(static_cast<size_t>(model.layout().positions())),
        used_(pool.nodes.size(), false) {
    if (!ReplicasAlike(model)) return;
    for (int r = 1; r < model.layout().replicas(); ++r) {
      leading_.push_back(model.layout().Cell(r, 0).front().position);
    }
  }

  void Run() { Fill(0); }

 private:
  // False once the visitor has had enough.
  bool Fill(size_t position) {
    if (position == placement_.size()) {
      if (!InOrder() || !pools_.Obeys(placement_)) return true;
      return visit_(placement_);
    }
    for (size_t i = 0; i < pool_.size(); ++i) {
      if (used_[i]) continue;
      used_[i] = true;
      placement_[position] = pool_[i];
      const bool go_on = Fill(position + 1);
      used_[i] = false;
      if (!go_on) return false;
    }
    return true;
  }

  bool InOrder() const {
    for (size_t i = 1; i < leading_.size(); ++i) {
      if (placement_[leading_[i - 1]] > placement_[leading_[i]]) return false;
    }
    return true;
  }

  const Pools& pools_;
  const std::vector<int64_t>& pool_;
  const std::function<bool(const NodeList&)>& visit_;
  NodeList placement_;
  std::vector<bool> used_;
  std::vector<int32_t> leading_;  // first positions of all replicas but one
};

}  // namespace

int64_t PlacementCount(const JobModel& model, const Pool& pool) {
  int64_t count = 1;
  const auto nodes = static_cast<int64_t>(pool.nodes.size());
  for (int i = 0; i < model.layout().positions(); ++i) {
    count *= nodes - i;
    if (count > kMostEnumerated) return kMostEnumerated + 1;
  }
  return count;
}

void ForEachPlacement(const JobModel& model, const Pools& pools,
                      const Pool& pool,
                      const std::function<bool(const NodeList&)>& visit) {
  Enumeration(model, pools, pool, visit).Run();
}

}  // namespace prism::placement
