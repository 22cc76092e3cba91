#include "core/query/what_if.h"

#include <absl/strings/str_cat.h>

#include <numeric>
#include <set>
#include <utility>

#include "core/query/node_updates.h"
#include "core/query/read_node_states.h"

namespace prism::query {
namespace {

Replacements ReadReplacements(const prism::v1::WhatIf& what_if, int64_t nodes,
                              const FieldPath& list, Checker& checker) {
  Replacements replacements;
  std::set<int64_t> substitutes;
  for (int i = 0; i < what_if.replace_size(); ++i) {
    const FieldPath item = list.Item(i);
    const int64_t node = what_if.replace(i).node();
    const int64_t by = what_if.replace(i).by();
    for (const auto& [name, value] : {std::pair{"node", node}, {"by", by}}) {
      checker.Require(
          value < nodes, item.Field(name),
          absl::StrCat("is ", value, "; must be from 0 to ", nodes - 1));
    }
    checker.Require(replacements.insert({node, by}).second, item.Field("node"),
                    absl::StrCat("is ", node, ", which is replaced already"));
    checker.Require(substitutes.insert(by).second, item.Field("by"),
                    absl::StrCat("is ", by, ", which replaces another node"));
  }
  return replacements;
}

}  // namespace

Replacements ReadWhatIf(const prism::v1::WhatIf& what_if, const FieldPath& path,
                        Checker& checker, prism::v1::Cluster& cluster) {
  const int before = checker.failures();
  ReadNodeStates(what_if.nodes(), cluster.nodes(), path.Field("nodes"),
                 checker);
  Replacements replacements = ReadReplacements(what_if, cluster.nodes(),
                                               path.Field("replace"), checker);
  if (checker.failures() == before) ApplyNodeStates(what_if.nodes(), cluster);
  return replacements;
}

estimate::Placement Replaced(const estimate::Placement& placement,
                             int64_t nodes, const Replacements& replacements,
                             const hardware::Cluster& cluster,
                             const FieldPath& path, Checker& checker) {
  estimate::Placement other = placement;
  if (other.nodes.empty()) {
    other.nodes.resize(nodes);
    std::iota(other.nodes.begin(), other.nodes.end(), 0);
  }
  for (int64_t& node : other.nodes) {
    const auto found = replacements.find(node);
    if (found != replacements.end()) node = found->second;
  }
  std::set<int64_t> failed;
  for (const hardware::NodeState& state : cluster.node_states) {
    if (state.health == hardware::Health::kFailed) failed.insert(state.node);
  }
  std::set<int64_t> used;
  for (const int64_t node : other.nodes) {
    checker.Require(!failed.contains(node), path,
                    absl::StrCat("puts the job on node ", node,
                                 ", which has failed; must name what replaces "
                                 "it"));
    checker.Require(used.insert(node).second, path.Field("replace"),
                    absl::StrCat("puts node ", node,
                                 " where it is already used; must name a node "
                                 "that the placement does not use"));
  }
  return other;
}

std::vector<int64_t> ReplacedAmongFree(const std::vector<int64_t>& free,
                                       const Replacements& replacements,
                                       std::vector<int64_t>& exclude) {
  if (free.empty()) {
    for (const auto& [node, by] : replacements) exclude.push_back(node);
    return {};
  }
  std::vector<int64_t> nodes;
  std::set<int64_t> seen;
  for (const int64_t node : free) {
    const auto found = replacements.find(node);
    const int64_t taken = found == replacements.end() ? node : found->second;
    if (seen.insert(taken).second) nodes.push_back(taken);
  }
  return nodes;
}

}  // namespace prism::query
