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
                             const FieldPath& path, Checker& checker) {
  estimate::Placement other = placement;
  if (replacements.empty()) return other;
  if (other.nodes.empty()) {
    other.nodes.resize(nodes);
    std::iota(other.nodes.begin(), other.nodes.end(), 0);
  }
  for (int64_t& node : other.nodes) {
    const auto found = replacements.find(node);
    if (found != replacements.end()) node = found->second;
  }
  std::set<int64_t> used;
  for (const int64_t node : other.nodes) {
    if (used.insert(node).second) continue;
    checker.Fail(path.Field("replace"),
                 absl::StrCat("puts node ", node,
                              " where it is already used; must name a node "
                              "that the placement does not use"));
    break;
  }
  return other;
}

}  // namespace prism::query
