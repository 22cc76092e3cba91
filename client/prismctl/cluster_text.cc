#include "client/prismctl/cluster_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <vector>

#include "client/render/table.h"
#include "core/query/document_names.h"

namespace prism::prismctl {
namespace {

using render::Row;
using render::Table;

std::string HealthWord(prism::v1::Health health) {
  const auto* value = prism::v1::Health_descriptor()->FindValueByNumber(health);
  return value == nullptr ? absl::StrCat(health) : query::EnumWord(*value);
}

std::string SlowdownText(const prism::v1::NodeState& state) {
  if (state.has_measured_slowdown()) return "measured";
  return state.slowdown() == 0 ? "-" : absl::StrFormat("%g", state.slowdown());
}

}  // namespace

std::string ClustersText(const prism::v1::ListClustersResponse& clusters) {
  std::vector<Row> rows = {
      {"name", "accelerator", "nodes", "unhealthy", "revision"}};
  for (const auto& cluster : clusters.clusters()) {
    rows.push_back({cluster.name(), cluster.accelerator(),
                    absl::StrCat(cluster.nodes()),
                    absl::StrCat(cluster.unhealthy_nodes()),
                    absl::StrCat(cluster.revision())});
  }
  return Table(rows, {1}, "");
}

std::string NodesText(const prism::v1::ListNodesResponse& nodes) {
  std::vector<Row> rows = {{"node", "name", "health", "slowdown", "reason"}};
  for (int i = 0; i < nodes.nodes_size(); ++i) {
    const auto& state = nodes.nodes(i);
    rows.push_back({absl::StrCat(state.node()),
                    i < nodes.node_names_size() ? nodes.node_names(i) : "-",
                    HealthWord(state.health()), SlowdownText(state),
                    state.reason()});
  }
  return Table(rows, {1, 2, 3, 4}, "");
}

}  // namespace prism::prismctl
