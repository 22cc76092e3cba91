// LinkSpeeds: what the data sheets of links do not say about collectives.
//
// A library moves data by one of three protocols: LL stores a flag beside every
// word and waits least; LL128 one beside every 120 bytes; Simple fills whole
// buffers and reaches the highest rate. Values are fitted to measured
// collectives by tests/accuracy/fit_collectives/fit; docs/model/hardware.md
// says how far those are from them. Plain values; copy freely.
#ifndef PRISM_CORE_HARDWARE_LINK_SPEEDS_H_
#define PRISM_CORE_HARDWARE_LINK_SPEEDS_H_

#include "core/hardware/accelerator.h"

namespace prism::hardware {

// How a protocol moves data over one kind of link: a transfer of `x` seconds at
// its rate takes start + hops x (latency of the level + hop) + x +
// sqrt(ramp x x).
struct ProtocolSpeeds {
  double start_seconds = 0;
  double hop_seconds = 0;   // beyond the latency of the level
  double share = 1;         // of the link's rate
  double ramp_seconds = 0;  // how slowly messages reach that rate
};

// Links inside a node or rack.
struct NodeSpeeds {
  ProtocolSpeeds ll = {};
  ProtocolSpeeds ll128 = {};
  ProtocolSpeeds simple = {};
  // Switches that add up what passes them.
  ProtocolSpeeds in_switch = {};
  double peer_seconds = 0;  // of every other member, in an all-to-all
};

// A protocol with flags between nodes: its processors, not the cards, bound it.
struct FlaggedSpeeds {
  double hop_seconds = 0;
  double most_bytes_per_second = 0;  // of a node
};

struct NetworkSpeeds {
  FlaggedSpeeds ll = {.hop_seconds = 1.35e-6, .most_bytes_per_second = 2.33e9};
  FlaggedSpeeds ll128 = {.hop_seconds = 8e-6, .most_bytes_per_second = 32.1e9};
  // Starts as inside the node.
  ProtocolSpeeds simple = {
      .hop_seconds = 2.47e-6, .share = 0.998, .ramp_seconds = 0.682e-6};
  // Passing a node of c cards costs c (c - 1) times this more.
  double card_seconds = 0.991e-6;
  double tree_share = 0.748;  // of the rate of a ring
  // Of an all-to-all: for every other member, and of a card's rate.
  double peer_seconds = 2.67e-6;
  double exchange_share = 0.915;
  // One message between two nodes, while all others send one: ten nodes in a
  // ring got half of what two alone do.
  ProtocolSpeeds transfer = {.start_seconds = 28.4e-6, .share = 0.495};
};

struct LinkSpeeds {
  // A100 (NVLink 3); stands in for V100 and for the links of other makers.
  NodeSpeeds nvlink3 = {
      .ll = {.start_seconds = 9.11e-6, .hop_seconds = 0.499e-6, .share = 0.064},
      .ll128 = {.start_seconds = 11e-6,
                .hop_seconds = 0.467e-6,
                .share = 0.337},
      .simple = {.start_seconds = 14.5e-6,
                 .hop_seconds = 1.11e-6,
                 .share = 0.806,
                 .ramp_seconds = 14e-6},
      .peer_seconds = 0.52e-6};
  // H100 (NVLink 4); stands in for Blackwell.
  NodeSpeeds nvlink4 = {.ll = {.start_seconds = 4.14e-6,
                               .hop_seconds = 0.285e-6,
                               .share = 0.0167},
                        .ll128 = {.start_seconds = 5.86e-6,
                                  .hop_seconds = 0.274e-6,
                                  .share = 0.381},
                        .simple = {.start_seconds = 5.96e-6,
                                   .hop_seconds = 0.304e-6,
                                   .share = 0.863,
                                   .ramp_seconds = 9.81e-6},
                        .in_switch = {.start_seconds = 19.4e-6,
                                      .share = 0.713,
                                      .ramp_seconds = 57.5e-6},
                        .peer_seconds = 0.521e-6};
  NetworkSpeeds network;

  // One message inside a node: few channels at first, then all of them.
  ProtocolSpeeds node_transfer = {.start_seconds = 8e-6, .share = 0.18};
  ProtocolSpeeds node_bulk_transfer = {.start_seconds = 487e-6, .share = 0.884};

  // Share of the node's rate that a ring through several nodes reaches.
  double through_share = 0.842;
  // What a member copies of its own part, as a share of a transfer of it.
  double own_share = 0.364;
};

// Of `speeds`, those of the links inside a node of `accelerator`.
const NodeSpeeds& NodeSpeedsOf(const LinkSpeeds& speeds,
                               const Accelerator& accelerator);

// Switches of the node add up all-reduces themselves.
bool SwitchesReduce(const Accelerator& accelerator);

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_LINK_SPEEDS_H_
