#include "server/node_states.h"

#include <utility>

namespace prism::server {

using prism::v1::Health;
using prism::v1::NodeState;

const NodeState* NodeStates::Find(uint32_t node) const {
  const size_t chunk = node / kChunk;
  if (chunk >= chunks_.size() || chunks_[chunk] == nullptr) return nullptr;
  return (*chunks_[chunk])[node % kChunk].get();
}

void NodeStates::Set(NodeState state) {
  const uint32_t node = state.node();
  const bool was_healthy = HealthOf(Find(node)) == prism::v1::HEALTH_HEALTHY;
  const bool is_healthy = HealthOf(&state) == prism::v1::HEALTH_HEALTHY;
  unhealthy_ += static_cast<int>(was_healthy) - static_cast<int>(is_healthy);

  const size_t index = node / kChunk;
  if (index >= chunks_.size()) chunks_.resize(index + 1);
  auto chunk = chunks_[index] == nullptr
                   ? std::make_shared<Chunk>()
                   : std::make_shared<Chunk>(*chunks_[index]);
  (*chunk)[node % kChunk] = std::make_shared<const NodeState>(std::move(state));
  chunks_[index] = std::move(chunk);
}

void NodeStates::ForEach(
    const std::function<void(const NodeState&)>& visit) const {
  for (const auto& chunk : chunks_) {
    if (chunk == nullptr) continue;
    for (const auto& state : *chunk) {
      if (state != nullptr) visit(*state);
    }
  }
}

Health HealthOf(const NodeState* state) {
  if (state == nullptr || state->health() == prism::v1::HEALTH_UNSPECIFIED) {
    return prism::v1::HEALTH_HEALTHY;
  }
  return state->health();
}

}  // namespace prism::server
