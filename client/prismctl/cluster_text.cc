#include "client/prismctl/cluster_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <vector>

#include "core/query/document_names.h"

namespace prism::prismctl {
namespace {

using Row = std::vector<std::string>;

// Columns as wide as their widest cell; the last is not filled up.
std::string Table(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      absl::StrAppend(&line, row[i]);
      if (i + 1 < row.size()) {
        line.append(widths[i] - row[i].size() + 2, ' ');
      }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

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
  return Table(rows);
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
  return Table(rows);
}

}  // namespace prism::prismctl
