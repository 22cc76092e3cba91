#include "core/query/node_updates.h"

#include <charconv>

namespace prism::query {

using prism::v1::NodeState;

void MergeNodeState(const NodeState& update, NodeState& state) {
  if (update.slowdown() != 0 || update.has_measured_slowdown()) {
    state.clear_slowdown();
    state.clear_measured_slowdown();
  }
  if (update.health() != prism::v1::HEALTH_UNSPECIFIED) state.clear_reason();
  state.MergeFrom(update);
}

void ApplyNodeStates(
    const google::protobuf::RepeatedPtrField<NodeState>& updates,
    prism::v1::Cluster& cluster) {
  absl::flat_hash_map<uint32_t, int> position;
  for (int i = 0; i < cluster.node_states_size(); ++i) {
    position[cluster.node_states(i).node()] = i;
  }
  for (const NodeState& update : updates) {
    const auto [found, is_new] =
        position.insert({update.node(), cluster.node_states_size()});
    if (is_new) cluster.add_node_states()->set_node(update.node());
    MergeNodeState(update, *cluster.mutable_node_states(found->second));
  }
}

NodeNames::NodeNames(const std::vector<std::string>& names, int64_t nodes)
    : nodes_(nodes) {
  for (size_t node = 0; node < names.size(); ++node) {
    node_of_[names[node]] = static_cast<int64_t>(node);
  }
}

std::optional<int64_t> NodeNames::Find(std::string_view name_or_number) const {
  const auto named = node_of_.find(std::string(name_or_number));
  if (named != node_of_.end()) return named->second;
  int64_t node = -1;
  const char* end = name_or_number.data() + name_or_number.size();
  const auto [stop, error] = std::from_chars(name_or_number.data(), end, node);
  if (error != std::errc() || stop != end) return std::nullopt;
  if (node < 0 || node >= nodes_) return std::nullopt;
  return node;
}

}  // namespace prism::query
