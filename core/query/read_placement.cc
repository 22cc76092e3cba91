#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "core/query/read_job.h"

namespace prism::query {
namespace {

using estimate::Placement;
using hardware::Cluster;
using hardware::Health;

Health HealthOf(const Cluster& cluster, int64_t node) {
  const auto& states = cluster.node_states;
  const auto found = std::lower_bound(
      states.begin(), states.end(), node,
      [](const auto& state, int64_t wanted) { return state.node < wanted; });
  if (found == states.end() || found->node != node) return Health::kHealthy;
  return found->health;
}

bool TakesNewWork(const Cluster& cluster, int64_t node) {
  const Health health = HealthOf(cluster, node);
  return health != Health::kDrained && health != Health::kFailed;
}

// The first nodes may be left out.
Placement Short(Placement placement) {
  std::vector<int64_t> first(placement.nodes.size());
  std::iota(first.begin(), first.end(), 0);
  if (placement.nodes == first) placement.nodes.clear();
  return placement;
}

Placement FirstThatTakeWork(const Cluster& cluster, int64_t needed,
                            const FieldPath& path, Checker& checker) {
  Placement placement;
  for (int64_t node = 0; node < cluster.nodes; ++node) {
    if (static_cast<int64_t>(placement.nodes.size()) == needed) break;
    if (TakesNewWork(cluster, node)) placement.nodes.push_back(node);
  }
  const auto found = static_cast<int64_t>(placement.nodes.size());
  checker.Require(
      found == needed || cluster.nodes < needed, path,
      absl::StrCat(
          "is missing, and nodes that are neither drained nor failed are "
          "too few: the cluster has ",
          found, ", the job needs ", needed));
  return Short(std::move(placement));
}

}  // namespace

Placement ReadPlacement(const prism::v1::Placement& message,
                        const Cluster& cluster, int64_t gpus,
                        const FieldPath& path, Checker& checker) {
  const FieldPath list = path.Field("nodes");
  const int64_t needed =
      (gpus + cluster.gpus_per_node - 1) / cluster.gpus_per_node;
  if (message.nodes().empty()) {
    return FirstThatTakeWork(cluster, needed, list, checker);
  }
  checker.Require(
      message.nodes_size() == needed, list,
      absl::StrCat("has ", message.nodes_size(), " nodes; must have ", needed,
                   " for ", gpus, " GPUs with ", cluster.gpus_per_node,
                   " in a node"));
  std::map<int64_t, int> seen;
  Placement placement;
  for (int i = 0; i < message.nodes_size(); ++i) {
    const int64_t node = message.nodes(i);
    checker.Require(
        node < cluster.nodes, list.Item(i),
        absl::StrCat("is ", node, "; must be from 0 to ", cluster.nodes - 1));
    checker.Require(HealthOf(cluster, node) != Health::kFailed, list.Item(i),
                    absl::StrCat("is ", node,
                                 ", which has failed; must be a node that "
                                 "runs"));
    const auto [first, is_new] = seen.insert({node, i});
    checker.Require(is_new, list.Item(i),
                    absl::StrCat("is ", node, ", as is nodes[", first->second,
                                 "]; give each node once"));
    placement.nodes.push_back(node);
  }
  return Short(std::move(placement));
}

}  // namespace prism::query
