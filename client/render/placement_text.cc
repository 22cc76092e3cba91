#include "client/render/placement_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "client/render/paint.h"
#include "client/render/provenance_text.h"
#include "client/render/table.h"
#include "client/render/units.h"
#include "client/render/wrap.h"

namespace prism::render {
namespace {

namespace v1 = prism::v1;

// Class of nodes that cannot run anything.
constexpr uint32_t kCannotRun = 9999;

Row StepCells(const v1::StepTime& time) {
  return {Duration(time.mean_seconds()), Duration(time.quantiles().p50()),
          Duration(time.quantiles().p95())};
}

void Append(const Row& cells, Row& row) {
  row.insert(row.end(), cells.begin(), cells.end());
}

using Scored = google::protobuf::RepeatedPtrField<v1::ScoredPlacement>;

std::string ScoreTable(const Scored& placements) {
  std::vector<int> order(placements.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const auto &x = placements[a], &y = placements[b];
    if (x.tied_group() != y.tied_group()) {
      return x.tied_group() < y.tied_group();
    }
    return x.difference_seconds() < y.difference_seconds();
  });
  std::vector<Row> rows = {
      {"placement", "group", "score", "P(best)", "mean", "p50", "p95"}};
  for (const int i : order) {
    const v1::ScoredPlacement& scored = placements[i];
    Row row = {scored.name(), absl::StrCat(scored.tied_group()),
               absl::StrFormat("%.1f", scored.score()),
               Percent(scored.probability_best())};
    Append(StepCells(scored.step_time()), row);
    rows.push_back(std::move(row));
  }
  return Table(rows);
}

std::string NodeName(uint32_t node, const v1::Cluster& cluster) {
  const bool named = static_cast<int>(node) < cluster.node_names_size();
  return named ? cluster.node_names(static_cast<int>(node))
               : absl::StrCat(node);
}

// Nodes in rank order, runs of numbers drawn together.
std::string NodesText(const google::protobuf::RepeatedField<uint32_t>& nodes,
                      const v1::Cluster& cluster) {
  const bool named = cluster.node_names_size() > 0;
  std::string text;
  for (int i = 0; i < nodes.size();) {
    int end = i + 1;
    while (!named && end < nodes.size() && nodes[end] == nodes[end - 1] + 1) {
      ++end;
    }
    absl::StrAppend(&text, text.empty() ? "" : " ",
                    NodeName(nodes[i], cluster));
    if (end > i + 2) {
      absl::StrAppend(&text, "-", nodes[end - 1]);
    } else if (end == i + 2) {
      absl::StrAppend(&text, " ", nodes[end - 1]);
    }
    i = end;
  }
  return text;
}

}  // namespace

std::string ScoresText(const v1::ScorePlacementsResponse& response,
                       const Terminal& terminal) {
  const Paint paint(terminal.colour);
  std::string text =
      paint.Heading("Placements") + "\n" + ScoreTable(response.placements());
  for (const v1::WhatIfScores& what_if : response.what_ifs()) {
    absl::StrAppend(&text, "\n", paint.Heading("What if: " + what_if.name()),
                    "\n", ScoreTable(what_if.placements()));
  }
  return text + ProvenanceText(response.provenance(), terminal);
}

std::string OptimumText(const v1::OptimizePlacementResponse& response,
                        const v1::Cluster& cluster, const Terminal& terminal) {
  const Paint paint(terminal.colour);
  std::string text =
      paint.Heading("Nodes in rank order") + "\n" +
      Wrap("  ", NodesText(response.placement().nodes(), cluster),
           terminal.columns);
  if (response.spares_size() > 0) {
    absl::StrAppend(
        &text, "\n", paint.Heading("Spares"), "\n",
        Wrap("  ", NodesText(response.spares(), cluster), terminal.columns));
  }
  std::vector<Row> rows = {{"placement", "mean", "p50", "p95", "step"}};
  Row chosen = {"chosen"};
  Append(StepCells(response.step_time()), chosen);
  chosen.push_back("100.0%");
  rows.push_back(std::move(chosen));
  for (const v1::ComparedPlacement& other : response.compared_with()) {
    Row row = {other.name()};
    Append(StepCells(other.step_time()), row);
    row.push_back(absl::StrFormat("%.1f%%", 100 * other.ratio()));
    rows.push_back(std::move(row));
  }
  absl::StrAppend(&text, "\n", paint.Heading("Step"), "\n", Table(rows));
  absl::StrAppend(&text, "  ",
                  response.exact()
                      ? "no placement is better: all were looked at"
                      : absl::StrFormat("at most %.2f%% shorter elsewhere",
                                        100 * response.gap()),
                  " (", Grouped(static_cast<int64_t>(response.evaluated())),
                  " placements)\n");
  for (const v1::WhatIfPlacement& what_if : response.what_ifs()) {
    absl::StrAppend(&text, "\n", paint.Heading("What if: " + what_if.name()),
                    "\n");
    if (!what_if.has_placement()) {
      absl::StrAppend(&text, "  the job does not fit\n");
      continue;
    }
    absl::StrAppend(&text,
                    Wrap("  ", NodesText(what_if.placement().nodes(), cluster),
                         terminal.columns),
                    "  mean step ",
                    Duration(what_if.step_time().mean_seconds()), "\n");
  }
  return text + ProvenanceText(response.provenance(), terminal);
}

std::string RanksText(const v1::RankNodesResponse& response,
                      const Terminal& terminal) {
  const Paint paint(terminal.colour);
  std::vector<Row> rows = {{"node", "class", "step", "P(straggler)"}};
  for (const v1::RankedNode& node : response.nodes()) {
    const std::string name =
        node.name().empty() ? absl::StrCat(node.node()) : node.name();
    if (node.performance_class() == kCannotRun) {
      rows.push_back({name, "-", "cannot run", "-"});
      continue;
    }
    rows.push_back({name, absl::StrCat(node.performance_class()),
                    absl::StrFormat("%.1f%%", 100 * node.relative_slowdown()),
                    Percent(node.straggler_probability())});
  }
  return paint.Heading("Nodes, the fastest first") + "\n" + Table(rows) +
         ProvenanceText(response.provenance(), terminal);
}

}  // namespace prism::render
