#include "core/query/what_if.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <numeric>
#include <set>
#include <utility>

#include "core/query/checker.h"
#include "core/query/overlay.h"

namespace prism::query {
namespace {

using google::protobuf::RepeatedPtrField;
using prism::v1::NodeState;

constexpr std::string_view kStates = "cluster.node_states[";

// "cluster.node_states[3].slowdown" -> 3 and ".slowdown". False for others.
bool SplitStatePath(const std::string& field, int& state, std::string& rest) {
  if (!absl::StartsWith(field, kStates.data())) return false;
  const size_t end = field.find(']');
  const std::string number = field.substr(kStates.size(), end - kStates.size());
  if (!absl::SimpleAtoi(number, &state)) return false;
  rest = field.substr(end + 1);
  return true;
}

// What excludes each other is not kept beside its replacement.
void ClearReplaced(const NodeState& change, NodeState& state) {
  if (change.slowdown() != 0) state.clear_measured_slowdown();
  if (change.has_measured_slowdown()) state.clear_slowdown();
}

}  // namespace

std::vector<int> ChangeNodes(const RepeatedPtrField<NodeState>& changes,
                             prism::v1::Cluster& cluster) {
  std::map<uint32_t, int> index;
  for (int i = 0; i < cluster.node_states_size(); ++i) {
    index[cluster.node_states(i).node()] = i;
  }
  std::vector<int> change_of_state(cluster.node_states_size(), -1);
  for (int i = 0; i < changes.size(); ++i) {
    const auto found = index.find(changes[i].node());
    // A node given twice is left to the reader to refuse.
    if (found == index.end() || change_of_state[found->second] >= 0) {
      *cluster.add_node_states() = changes[i];
      change_of_state.push_back(i);
      continue;
    }
    NodeState& state = *cluster.mutable_node_states(found->second);
    ClearReplaced(changes[i], state);
    Overlay(changes[i], state);
    change_of_state[found->second] = i;
  }
  return change_of_state;
}

void AddViolations(const base::Violations& found,
                   const std::vector<int>& change_of_state,
                   const FieldPath& path, base::Violations& violations) {
  for (const base::Violation& violation : found.list()) {
    int state = 0;
    std::string rest;
    const bool changed = SplitStatePath(violation.field, state, rest) &&
                         state < static_cast<int>(change_of_state.size()) &&
                         change_of_state[state] >= 0;
    violations.Add(
        changed
            ? absl::StrCat(
                  path.Field("nodes").Item(change_of_state[state]).ToString(),
                  rest)
            : absl::StrCat(path.ToString(), ".", violation.field),
        violation.description);
  }
}

std::map<int64_t, int64_t> ReadReplacements(const prism::v1::WhatIf& what_if,
                                            const hardware::Cluster& cluster,
                                            const FieldPath& path,
                                            base::Violations& violations) {
  Checker checker(violations);
  const FieldPath list = path.Field("replace");
  std::map<int64_t, int64_t> replacements;
  std::set<int64_t> substitutes;
  for (int i = 0; i < what_if.replace_size(); ++i) {
    const FieldPath item = list.Item(i);
    const int64_t node = what_if.replace(i).node();
    const int64_t by = what_if.replace(i).by();
    for (const auto& [name, value] : {std::pair{"node", node}, {"by", by}}) {
      checker.Require(value < cluster.nodes, item.Field(name),
                      absl::StrCat("is ", value, "; must be from 0 to ",
                                   cluster.nodes - 1));
    }
    checker.Require(replacements.insert({node, by}).second, item.Field("node"),
                    absl::StrCat("is ", node, ", which is replaced already"));
    checker.Require(substitutes.insert(by).second, item.Field("by"),
                    absl::StrCat("is ", by, ", which replaces another node"));
  }
  return replacements;
}

estimate::Placement Replaced(const estimate::Placement& placement,
                             int64_t nodes,
                             const std::map<int64_t, int64_t>& replacements,
                             const FieldPath& path,
                             base::Violations& violations) {
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
    violations.Add(path.Field("replace").ToString(),
                   absl::StrCat("puts node ", node,
                                " where it is already used; must name a node "
                                "that the placement does not use"));
    break;
  }
  return other;
}

}  // namespace prism::query
