#include "core/placement/bound.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/placement/normal_maximum.h"

namespace prism::placement {
namespace {

class Bound final {
 public:
  Bound(JobModel& model, int draw_rows, Communication communication)
      : model_(model),
        layout_(model.layout()),
        draw_rows_(draw_rows),
        communication_(std::move(communication)) {}

  // Earliest mean end of a replica that holds a node of this slowdown among
  // nodes of the slowdown `fastest`.
  double EarliestEnd(double slowdown, double fastest) {
    const auto known = earliest_.find(slowdown);
    if (known != earliest_.end()) return known->second;
    double earliest = INFINITY;
    std::vector<double> position(layout_.positions(), fastest);
    for (const int32_t own : PositionsOfReplica(0)) {
      position[own] = slowdown;
      earliest = std::min(earliest, End(position));
      position[own] = fastest;
    }
    return earliest_[slowdown] = earliest;
  }

  std::set<int32_t> PositionsOfReplica(int replica) const {
    std::set<int32_t> positions;
    for (int s = 0; s < layout_.stages(); ++s) {
      for (const Seat& seat : layout_.Cell(replica, s)) {
        positions.insert(seat.position);
      }
    }
    return positions;
  }

 private:
  double End(const std::vector<double>& position) {
    const int stages = layout_.stages();
    std::vector<float> slowdown, clock(stages);
    for (int s = 0; s < stages; ++s) {
      slowdown.push_back(
          static_cast<float>(model_.CellSlowdown(0, s, position)));
    }
    model_.response().MeanEnds(model_.pipeline(communication_.pipeline),
                               slowdown, draw_rows_, workspace_, clock.data());
    double end = 0;
    for (int s = 0; s < stages; ++s) {
      const ClosingTime& closing = communication_.closing[s];
      end = std::max(
          end, clock[s] + closing.network + closing.optimizer * slowdown[s]);
    }
    return end;
  }

  JobModel& model_;
  const Layout& layout_;
  const int draw_rows_;
  const Communication communication_;
  ReplicaResponse::Workspace workspace_;
  std::map<double, double> earliest_;
};

// True where every node runs ranks of one replica alone.
bool ReplicasHaveNodes(const Layout& layout) {
  for (int i = 0; i < layout.positions(); ++i) {
    const auto cells = layout.CellsAt(i);
    if (cells.front() / layout.stages() != cells.back() / layout.stages()) {
      return false;
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<double> LowestMean(JobModel& model, const Pools& pools,
                                  const Pool& pool, int draw_rows,
                                  double relative_deviation) {
  auto communication = model.BestCommunication();
  if (!communication.ok()) return communication.status();
  const Layout& layout = model.layout();
  Bound bound(model, draw_rows, *std::move(communication));
  const auto needed = static_cast<size_t>(layout.positions());
  auto slowdown = [&](size_t place) {
    return pools.FactorOf(pool.nodes[place]) / model.assumed_slowdown();
  };
  const size_t each =
      ReplicasHaveNodes(layout) ? bound.PositionsOfReplica(0).size() : needed;
  std::vector<EqualNormals> ends;
  double latest = 0;
  for (int r = 0; r < layout.replicas(); ++r) {
    const size_t behind = std::min(needed - 1, static_cast<size_t>(r) * each);
    ends.push_back({.mean = bound.EarliestEnd(slowdown(needed - 1 - behind),
                                              slowdown(0))});
    latest = std::max(latest, ends.back().mean);
  }
  return MaximumOfNormals(ends, relative_deviation * latest).mean;
}

}  // namespace prism::placement
