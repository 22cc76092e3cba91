// Changes to what a cluster says of single nodes, on messages, and nodes by
// name.
#ifndef PRISM_CORE_QUERY_NODE_UPDATES_H_
#define PRISM_CORE_QUERY_NODE_UPDATES_H_

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prism/v1/cluster.pb.h"

namespace prism::query {

// A field that is set in `update` replaces that of `state`; the others stay.
// `slowdown` and `measured_slowdown` replace each other. `health` takes the
// reason with it: without one of its own, the old one goes.
//
// Requires: both are of the same node; `update` is valid (ReadNodeStates).
void MergeNodeState(const prism::v1::NodeState& update,
                    prism::v1::NodeState& state);

// Merges each update into the state of its node, which is added where the
// cluster has none.
//
// Requires: the updates are valid for `cluster`.
void ApplyNodeStates(
    const google::protobuf::RepeatedPtrField<prism::v1::NodeState>& updates,
    prism::v1::Cluster& cluster);

// Nodes by what people call them. Immutable; safe to share between threads.
class NodeNames final {
 public:
  // Requires: `names` are those of a valid cluster of `nodes` nodes, or none.
  NodeNames(const std::vector<std::string>& names, int64_t nodes);

  // The node of that name, or else of that decimal number. Nothing where there
  // is neither.
  std::optional<int64_t> Find(std::string_view name_or_number) const;

 private:
  absl::flat_hash_map<std::string, int64_t> node_of_;
  int64_t nodes_;
};

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_NODE_UPDATES_H_
