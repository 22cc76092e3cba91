#include "core/query/canonical_placement.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/base/check.h"
#include "core/hardware/accelerator.h"
#include "core/hardware/fabric.h"

namespace prism::query {
namespace {

using hardware::Fabric;

Fabric FabricOf(const hardware::Cluster& cluster) {
  const hardware::Accelerator* accelerator =
      hardware::FindAccelerator(cluster.accelerator);
  PRISM_CHECK(accelerator != nullptr);
  return Fabric(cluster, *accelerator);
}

std::vector<int64_t> FirstNodes(size_t count) {
  std::vector<int64_t> nodes(count);
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

std::vector<int64_t> NodesOf(const JobSubject& subject) {
  if (!subject.placement.nodes.empty()) return subject.placement.nodes;
  const int64_t in_node = subject.cluster.gpus_per_node;
  return FirstNodes(static_cast<size_t>(
      (subject.job.parallelism.gpus() + in_node - 1) / in_node));
}

class Numbering {
 public:
  Numbering(const Fabric& fabric, const std::vector<int64_t>& nodes)
      : fabric_(fabric), nodes_(nodes) {
    const auto& levels = fabric.levels();
    for (size_t level = 0; level + 1 < levels.size(); ++level) {
      const int64_t gpus = levels[level].gpus;
      const bool listed = !levels[level].unit_of_node.empty();
      listed_ |= listed;
      if (listed || gpus % fabric.gpus_per_node() == 0) {
        outside_.push_back(level);
      } else if (fabric.gpus_per_node() % gpus != 0) {
        straddled_ = true;
      }
    }
  }

  std::vector<int64_t> Nodes() const {
    if (straddled_) return nodes_;
    return listed_ ? FirstNodes(nodes_.size()) : RegularNodes();
  }

  std::vector<std::vector<int64_t>> Units() const {
    std::vector<std::vector<int64_t>> units;
    for (size_t i = 0; listed_ && i < outside_.size(); ++i) {
      units.push_back(AsTheyAppear(outside_[i]));
    }
    return units;
  }

 private:
  int64_t UnitOf(size_t level, int64_t node) const {
    return fabric_.UnitOf(level, node * fabric_.gpus_per_node());
  }

  std::vector<int64_t> AsTheyAppear(size_t level) const {
    absl::flat_hash_map<int64_t, int64_t> number_of;
    std::vector<int64_t> units;
    for (const int64_t node : nodes_) {
      const auto next = static_cast<int64_t>(number_of.size());
      units.push_back(
          number_of.insert({UnitOf(level, node), next}).first->second);
    }
    return units;
  }

  // From the outermost level inwards, every unit gets the first number that is
  // free inside the unit around it.
  std::vector<int64_t> RegularNodes() const {
    std::vector<int64_t> number(nodes_.size(), 0);
    std::vector<int64_t> sizes = {1};
    for (const size_t level : outside_) {
      sizes.push_back(fabric_.levels()[level].gpus / fabric_.gpus_per_node());
    }
    for (size_t i = sizes.size(); i-- > 0;) {
      // Units of this size that the one around holds.
      const int64_t inside = i + 1 < sizes.size() ? sizes[i + 1] / sizes[i] : 0;
      Renumber(sizes[i], inside, number);
    }
    return number;
  }

  // `number` holds the unit around each node, and then its unit of `size`
  // nodes.
  void Renumber(int64_t size, int64_t inside,
                std::vector<int64_t>& number) const {
    absl::flat_hash_map<int64_t, int64_t> number_of;  // by real unit
    absl::flat_hash_map<int64_t, int64_t> used;       // by the unit around
    for (size_t slot = 0; slot < nodes_.size(); ++slot) {
      const auto [unit, is_new] = number_of.insert({nodes_[slot] / size, 0});
      if (is_new) {
        unit->second = number[slot] * inside + used[number[slot]]++;
      }
      number[slot] = unit->second;
    }
  }

  const Fabric& fabric_;
  const std::vector<int64_t>& nodes_;
  std::vector<size_t> outside_;  // levels of whole nodes, but the last
  bool listed_ = false;
  // Nodes lie in several units of a level, each in its own way.
  bool straddled_ = false;
};

// Number of each node of the job.
using NumberOf = absl::flat_hash_map<int64_t, int64_t>;

std::vector<hardware::NodeState> Renumbered(
    const std::vector<hardware::NodeState>& states, const NumberOf& number_of) {
  std::vector<hardware::NodeState> renumbered;
  for (const hardware::NodeState& state : states) {
    const auto found = number_of.find(state.node);
    if (found == number_of.end()) continue;
    renumbered.push_back(state);
    renumbered.back().node = found->second;
  }
  std::sort(renumbered.begin(), renumbered.end(),
            [](const auto& a, const auto& b) { return a.node < b.node; });
  return renumbered;
}

std::vector<hardware::PathState> Renumbered(
    const std::vector<hardware::PathState>& states, const NumberOf& number_of) {
  std::vector<hardware::PathState> renumbered;
  for (const hardware::PathState& state : states) {
    const auto from = number_of.find(state.from);
    const auto to = number_of.find(state.to);
    if (from == number_of.end() || to == number_of.end()) continue;
    renumbered.push_back(state);
    std::tie(renumbered.back().from, renumbered.back().to) =
        std::minmax(from->second, to->second);
  }
  std::sort(renumbered.begin(), renumbered.end(),
            [](const auto& a, const auto& b) {
              return std::tie(a.from, a.to) < std::tie(b.from, b.to);
            });
  return renumbered;
}

}  // namespace

CanonicalPlacement CanonicalPlacementOf(const JobSubject& subject) {
  const hardware::Cluster& cluster = subject.cluster;
  const std::vector<int64_t> nodes = NodesOf(subject);
  const Fabric fabric = FabricOf(cluster);
  const Numbering numbering(fabric, nodes);
  CanonicalPlacement canonical = {.nodes = numbering.Nodes(),
                                  .units = numbering.Units(),
                                  .node_states = {},
                                  .path_states = {}};
  NumberOf number_of;
  for (size_t slot = 0; slot < nodes.size(); ++slot) {
    number_of[nodes[slot]] = canonical.nodes[slot];
  }
  canonical.node_states = Renumbered(cluster.node_states, number_of);
  canonical.path_states = Renumbered(cluster.path_states, number_of);
  if (canonical.nodes == FirstNodes(nodes.size())) canonical.nodes.clear();
  return canonical;
}

}  // namespace prism::query
