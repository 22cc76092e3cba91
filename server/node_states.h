// NodeStates: what is known of single nodes, as an immutable value that is
// cheap to change.
//
// A change shares all but a few dozen pointers with the value before it, so
// that thousands of updates a second leave readers of older values alone.
#ifndef PRISM_SERVER_NODE_STATES_H_
#define PRISM_SERVER_NODE_STATES_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "prism/v1/cluster.pb.h"

namespace prism::server {

// Immutable but for Set; values that were copied before it do not change.
class NodeStates {
 public:
  // Null where nothing is known of the node.
  const prism::v1::NodeState* Find(uint32_t node) const;

  // In place of what was known of state.node().
  void Set(prism::v1::NodeState state);

  // Calls `visit` with all states, by node.
  void ForEach(
      const std::function<void(const prism::v1::NodeState&)>& visit) const;

  // Nodes that are degraded, drained or failed.
  int64_t unhealthy() const { return unhealthy_; }

 private:
  static constexpr uint32_t kChunk = 64;
  using Chunk = std::array<std::shared_ptr<const prism::v1::NodeState>, kChunk>;

  std::vector<std::shared_ptr<const Chunk>> chunks_;  // null: all unknown
  int64_t unhealthy_ = 0;
};

// Healthy where nothing is said.
prism::v1::Health HealthOf(const prism::v1::NodeState* state);

}  // namespace prism::server

#endif  // PRISM_SERVER_NODE_STATES_H_
