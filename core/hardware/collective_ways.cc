#include "core/hardware/collective_ways.h"

#include <algorithm>
#include <array>

namespace prism::hardware {
namespace {

// Nodes with more cards were not measured.
constexpr double kMostCards = 8;

// One protocol over a group.
struct Lane {
  double start_seconds = 0;
  double ramp_seconds = 0;
  double node_hop_seconds = 0;
  double network_hop_seconds = 0;
  double node_share = 1;
  double ring_seconds_per_byte = 0;
  double exchange_seconds_per_byte = 0;
  double exchange_ramp_seconds = 0;
};

class Ways {
 public:
  Ways(const GroupSpan& span, const LinkSpeeds& speeds, const NodeSpeeds& node)
      : span_(span), speeds_(speeds), node_(node) {}

  CollectiveCurve Rings(CollectiveKind kind) {
    const bool reduces_all = kind == CollectiveKind::kAllReduce;
    const double passes = reduces_all ? 2 : 1;
    const double moved =
        kind == CollectiveKind::kBroadcast
            ? 1
            : (passes * (span_.members - 1) + speeds_.own_share) /
                  span_.members;
    for (const Lane& lane : Lanes()) {
      curve_.Add(
          lane.start_seconds +
              passes * (span_.node_ring.With(lane.node_hop_seconds) +
                        span_.network_ring.With(lane.network_hop_seconds)),
          moved * lane.ring_seconds_per_byte, lane.ramp_seconds);
      if (reduces_all && span_.crosses_network()) AddTree(lane);
    }
    return curve_;
  }

  // Nodes add up in their switches and then over a tree of nodes.
  void AddInSwitch() {
    const ProtocolSpeeds& in_switch = node_.in_switch;
    curve_.Add(in_switch.start_seconds +
                   2 * span_.network_tree.With(SimpleHopSeconds()),
               std::max(span_.node_seconds_per_byte / in_switch.share,
                        2 * span_.network_seconds_per_byte /
                            speeds_.network.simple.share),
               in_switch.ramp_seconds);
  }

  // Every member sends to every other at once.
  CollectiveCurve Exchange() {
    const double peers =
        (span_.in_node - 1) * node_.peer_seconds +
        (span_.members - span_.in_node) * speeds_.network.peer_seconds;
    const double moved =
        (span_.members - 1 + speeds_.own_share) / span_.members;
    for (const Lane& lane : Lanes()) {
      // The outermost link that is crossed, if that of the node is not slower.
      double hop =
          span_.in_node > 1 ? span_.node_latency + lane.node_hop_seconds : 0;
      if (span_.crosses_network()) {
        hop = std::max(hop, span_.network_latency + lane.network_hop_seconds);
      }
      curve_.Add(lane.start_seconds + hop + peers,
                 std::max(moved * span_.node_seconds_per_byte / lane.node_share,
                          lane.exchange_seconds_per_byte),
                 lane.exchange_ramp_seconds);
    }
    return curve_;
  }

 private:
  std::array<Lane, 3> Lanes() const {
    const NetworkSpeeds& network = speeds_.network;
    Lane simple = NodeLane(node_.simple);
    AddNetwork(SimpleHopSeconds(),
               span_.network_seconds_per_byte / network.simple.share, simple);
    simple.exchange_seconds_per_byte =
        span_.exchange_seconds_per_byte / network.exchange_share;
    if (span_.crosses_network()) {
      simple.ramp_seconds = network.simple.ramp_seconds;
      simple.exchange_ramp_seconds =
          std::max(simple.exchange_ramp_seconds, network.simple.ramp_seconds);
    }
    return {FlaggedLane(node_.ll, network.ll),
            FlaggedLane(node_.ll128, network.ll128), simple};
  }

  Lane NodeLane(const ProtocolSpeeds& node) const {
    Lane lane = {.start_seconds = node.start_seconds,
                 .ramp_seconds = node.ramp_seconds,
                 .node_hop_seconds = node.hop_seconds,
                 .node_share = node.share};
    if (span_.in_node > 1) lane.exchange_ramp_seconds = node.ramp_seconds;
    const double through = span_.crosses_network() ? speeds_.through_share : 1;
    lane.ring_seconds_per_byte =
        span_.node_seconds_per_byte / (node.share * through);
    return lane;
  }

  Lane FlaggedLane(const ProtocolSpeeds& node,
                   const FlaggedSpeeds& network) const {
    Lane lane = NodeLane(node);
    if (!span_.crosses_network()) return lane;
    const double least = 1 / network.most_bytes_per_second;
    const double share = speeds_.network.simple.share;
    AddNetwork(network.hop_seconds,
               std::max(least, span_.network_seconds_per_byte / share), lane);
    const double crossing = 1 - span_.in_node / span_.members;
    lane.exchange_seconds_per_byte =
        std::max(crossing * least, span_.exchange_seconds_per_byte / share);
    return lane;
  }

  static void AddNetwork(double hop_seconds, double seconds_per_byte,
                         Lane& lane) {
    lane.network_hop_seconds = hop_seconds;
    lane.ring_seconds_per_byte =
        std::max(lane.ring_seconds_per_byte, seconds_per_byte);
  }

  // Rings through a node use a channel for each of its cards, and every step
  // waits for all of them.
  double SimpleHopSeconds() const {
    const double cards = std::min(span_.in_node, kMostCards);
    return speeds_.network.simple.hop_seconds +
           speeds_.network.card_seconds * cards * (cards - 1);
  }

  // Chains in nodes, a tree between them: up, then down.
  void AddTree(const Lane& lane) {
    curve_.Add(lane.start_seconds +
                   2 * (span_.node_chain.With(lane.node_hop_seconds) +
                        span_.network_tree.With(lane.network_hop_seconds)),
               2 * lane.ring_seconds_per_byte / speeds_.network.tree_share,
               lane.ramp_seconds);
  }

  const GroupSpan& span_;
  const LinkSpeeds& speeds_;
  const NodeSpeeds& node_;
  CollectiveCurve curve_;
};

}  // namespace

CollectiveCurve CurveOf(CollectiveKind kind, const GroupSpan& span,
                        const LinkSpeeds& speeds, const NodeSpeeds& node,
                        bool in_switch) {
  if (span.members <= 1) return {};
  Ways ways(span, speeds, node);
  if (kind == CollectiveKind::kAllToAll) return ways.Exchange();
  if (kind == CollectiveKind::kAllReduce && in_switch &&
      span.in_node >= kFewestForSwitch) {
    ways.AddInSwitch();
  }
  return ways.Rings(kind);
}

}  // namespace prism::hardware
