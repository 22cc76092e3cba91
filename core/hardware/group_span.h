// GroupSpan: what lies between the members of a group, level by level summed
// up for the ways of a collective library.
//
// A level is a node's or the network's. Hops and rates are those of a group all
// of whose units hold as few as the one with the fewest. Plain values.
#ifndef PRISM_CORE_HARDWARE_GROUP_SPAN_H_
#define PRISM_CORE_HARDWARE_GROUP_SPAN_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/hardware/cluster.h"

namespace prism::hardware {

// How the members of a group lie in the fabric; GroupShaper finds it.
struct GroupShape {
  int64_t members = 1;
  // By level: fewest members in a unit of that level that holds any; the last
  // is `members`.
  std::vector<int64_t> in_unit;

  auto operator<=>(const GroupShape&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const GroupShape& shape) {
    return H::combine(std::move(h), shape.members, shape.in_unit);
  }
};

// Hops one after another, and the levels' latencies over them.
struct Hops {
  double count = 0;
  double latency_seconds = 0;

  void Add(double hops, double seconds_each) {
    count += hops;
    latency_seconds += hops * seconds_each;
  }
  // With `seconds` more for every hop.
  double With(double seconds) const {
    return latency_seconds + count * seconds;
  }
};

struct GroupSpan {
  double members = 1;
  double in_node = 1;
  // Once round a ring through all members, less one hop.
  Hops node_ring;
  Hops network_ring;
  // Along the members of a node; up a tree of nodes.
  Hops node_chain;
  Hops network_tree;
  // Latencies of the outermost level of each kind; 0: none is crossed.
  double node_latency = 0;
  double network_latency = 0;
  // What a byte takes over the slowest level of each kind at the links' full
  // rates: over those of one GPU in a node, of all members of a node between
  // nodes. 0: no level of that kind is crossed.
  double node_seconds_per_byte = 0;
  double network_seconds_per_byte = 0;
  // Of an all-to-all, per byte of a member's vector and over its own links: the
  // share that crosses a level of the network, times seconds per byte there.
  double exchange_seconds_per_byte = 0;

  bool crosses_network() const { return members > in_node; }
};

// `levels`' first `node_levels` are inside a node or rack. Requires: `shape`
// fits `levels`.
GroupSpan SpanOf(std::span<const FabricLevel> levels, size_t node_levels,
                 const GroupShape& shape);

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_GROUP_SPAN_H_
