#include "core/placement/pool.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/estimate/rank_slowdown.h"
#include "core/estimate/variation.h"

namespace prism::placement {

Pools::Pools(const JobModel& model, std::span<const int64_t> free_nodes,
             const Constraints& constraints, double caution)
    : model_(model), constraints_(constraints) {
  TakeFree(free_nodes);
  SetFactors(caution);
  SetSegmentLevel();
  if (reason_.empty()) Split();
}

void Pools::TakeFree(std::span<const int64_t> free_nodes) {
  const hardware::Cluster& cluster = model_.cluster();
  std::vector<hardware::Health> health(static_cast<size_t>(cluster.nodes),
                                       hardware::Health::kHealthy);
  for (const auto& state : cluster.node_states) {
    health[state.node] = state.health;
  }
  std::vector<char> excluded(health.size(), 0);
  for (const int64_t node : constraints_.exclude) excluded[node] = 1;
  std::vector<int64_t> degraded;
  auto take = [&](int64_t node) {
    if (excluded[node]) return;
    excluded[node] = 1;  // each once
    if (health[node] == hardware::Health::kHealthy) given_.push_back(node);
    if (health[node] == hardware::Health::kDegraded) degraded.push_back(node);
  };
  for (const int64_t node : free_nodes) take(node);
  if (free_nodes.empty()) {
    for (int64_t node = 0; node < cluster.nodes; ++node) take(node);
  }
  const int64_t needed = model_.layout().positions() + constraints_.spares;
  const int64_t missing = needed - static_cast<int64_t>(given_.size());
  if (missing > static_cast<int64_t>(degraded.size())) {
    reason_ = absl::StrCat("the job takes ", model_.layout().positions(),
                           " nodes and ", constraints_.spares, " spares; ",
                           given_.size() + degraded.size(),
                           " nodes are free and can run it");
  } else if (missing > 0) {
    given_.insert(given_.end(), degraded.begin(), degraded.end());
  }
}

void Pools::SetFactors(double caution) {
  measured_ = model_.measured();
  for (const hardware::NodeState& state : model_.cluster().node_states) {
    if (!state.measured_slowdown) continue;
    measured_[state.node] +=
        caution * std::sqrt(state.measured_slowdown->Variance());
  }
  factor_ = measured_;
  const double prior = estimate::SlowestFactor(model_.job().parallelism.gpus(),
                                               estimate::Variation{});
  for (double& factor : factor_) {
    if (factor == estimate::kNotMeasured) factor = prior;
  }
}

void Pools::SetSegmentLevel() {
  if (constraints_.segment_nodes <= 1) return;
  const FabricUnits& units = model_.units();
  for (int level = 0; level < units.levels(); ++level) {
    if (units.LargestUnit(level) >= constraints_.segment_nodes) {
      segment_level_ = level;
      return;
    }
  }
}

// Nodes of units that hold a block, and how many can be used in whole blocks.
int64_t Pools::KeepBlocks(std::vector<int64_t>& nodes) const {
  if (segment_level_ < 0) return static_cast<int64_t>(nodes.size());
  const int64_t block = constraints_.segment_nodes;
  std::map<int32_t, int64_t> size;
  for (const int64_t node : nodes) {
    ++size[model_.units().Unit(segment_level_, node)];
  }
  std::erase_if(nodes, [&](int64_t node) {
    return size[model_.units().Unit(segment_level_, node)] < block;
  });
  int64_t usable = 0;
  for (const auto& [unit, members] : size) usable += members / block * block;
  return usable;
}

void Pools::AddPool(std::vector<int64_t> nodes) {
  if (KeepBlocks(nodes) < model_.layout().positions()) return;
  std::stable_sort(nodes.begin(), nodes.end(), [this](int64_t a, int64_t b) {
    return std::pair(factor_[a], a) < std::pair(factor_[b], b);
  });
  pools_.push_back({std::move(nodes)});
}

void Pools::Split() {
  const auto& fabric = model_.cluster().fabric;
  const auto named = std::find_if(
      fabric.begin(), fabric.end(),
      [this](const auto& level) { return level.name == constraints_.within; });
  const bool anywhere = constraints_.within.empty() || named == fabric.end();
  const int level =
      anywhere
          ? -1
          : model_.units().LevelOf(static_cast<int>(named - fabric.begin()));
  // Levels that are not told apart hold all nodes, or are inside each.
  const bool inside_node =
      !anywhere && level < 0 && named->gpus <= model_.cluster().gpus_per_node;
  if (level >= 0) {
    std::map<int32_t, std::vector<int64_t>> by_unit;
    for (const int64_t node : given_) {
      by_unit[model_.units().Unit(level, node)].push_back(node);
    }
    for (auto& [unit, nodes] : by_unit) AddPool(std::move(nodes));
  } else if (!inside_node || model_.layout().positions() == 1) {
    AddPool(given_);
  }
  if (pools_.empty()) reason_ = WhyNone();
}

std::string Pools::WhyNone() const {
  std::string reason =
      absl::StrCat("the job takes ", model_.layout().positions(), " nodes");
  if (!constraints_.within.empty()) {
    absl::StrAppend(&reason, " within one unit of ", constraints_.within);
  }
  if (segment_level_ >= 0) {
    absl::StrAppend(&reason, " in blocks of ", constraints_.segment_nodes);
  }
  return reason + "; the free nodes do not lie like that";
}

bool Pools::Obeys(std::span<const int64_t> nodes) const {
  if (segment_level_ < 0) return true;
  const auto block = static_cast<size_t>(constraints_.segment_nodes);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!SameBlockUnit(nodes[i], nodes[i / block * block])) return false;
  }
  return true;
}

std::vector<int64_t> Pools::Spares(std::span<const int64_t> nodes) const {
  std::vector<int64_t> left;
  std::vector<int64_t> used(nodes.begin(), nodes.end());
  std::sort(used.begin(), used.end());
  for (const int64_t node : given_) {
    if (!std::binary_search(used.begin(), used.end(), node)) {
      left.push_back(node);
    }
  }
  std::stable_sort(left.begin(), left.end(), [this](int64_t a, int64_t b) {
    return factor_[a] < factor_[b];
  });
  left.resize(std::min(left.size(), static_cast<size_t>(constraints_.spares)));
  return left;
}

}  // namespace prism::placement
