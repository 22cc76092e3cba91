#include "core/hardware/group_span.h"

#include <algorithm>
#include <cmath>

namespace prism::hardware {
namespace {

// What a level joins: units of `before` members to units of `after`.
struct Joint {
  double members = 1;
  double before = 1;
  double after = 1;

  // Of a ring through all members those that cross the level and none outside.
  double RingHops() const { return members / before - members / after; }
};

double SecondsPerByte(const FabricLevel& level) {
  return level.oversubscription / level.bytes_per_second;
}

void AddNodeLevel(const FabricLevel& level, const Joint& joint, double sharers,
                  GroupSpan& span) {
  span.node_ring.Add(joint.RingHops(), level.latency_seconds);
  span.node_chain.Add(joint.RingHops() * span.in_node / span.members,
                      level.latency_seconds);
  span.node_latency = std::max(span.node_latency, level.latency_seconds);
  span.node_seconds_per_byte =
      std::max(span.node_seconds_per_byte, SecondsPerByte(level) / sharers);
}

void AddNetworkLevel(const FabricLevel& level, const Joint& joint,
                     GroupSpan& span) {
  span.network_ring.Add(joint.RingHops(), level.latency_seconds);
  span.network_tree.Add(std::log2(joint.after / joint.before),
                        level.latency_seconds);
  span.network_latency = std::max(span.network_latency, level.latency_seconds);
  span.network_seconds_per_byte = std::max(
      span.network_seconds_per_byte, SecondsPerByte(level) / span.in_node);
  span.exchange_seconds_per_byte =
      std::max(span.exchange_seconds_per_byte,
               (1 - joint.before / joint.members) * SecondsPerByte(level));
}

}  // namespace

GroupSpan SpanOf(std::span<const FabricLevel> levels, size_t node_levels,
                 const GroupShape& shape) {
  const auto in_unit = [&](size_t level) {
    return static_cast<double>(shape.in_unit[level]);
  };
  GroupSpan span;
  span.members = static_cast<double>(shape.members);
  if (node_levels > 0) span.in_node = in_unit(node_levels - 1);
  Joint joint = {.members = span.members};
  for (size_t level = 0; level < levels.size(); ++level) {
    joint.after = in_unit(level);
    if (joint.after <= joint.before) continue;
    if (level < node_levels) {
      AddNodeLevel(levels[level], joint, level == 0 ? 1 : in_unit(0), span);
    } else {
      AddNetworkLevel(levels[level], joint, span);
    }
    joint.before = joint.after;
  }
  return span;
}

}  // namespace prism::hardware
