// The ways in which a collective library can do a collective, as a curve.
//
// Rings and trees as R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of
// collective communication operations in MPICH", 2005, with the three protocols
// of link_speeds.h; a reduction in the switches of the node; direct messages.
// Which way serves which collective is what NVIDIA's library offers: gathering
// and scattering go round rings alone.
#ifndef PRISM_CORE_HARDWARE_COLLECTIVE_WAYS_H_
#define PRISM_CORE_HARDWARE_COLLECTIVE_WAYS_H_

#include "core/hardware/collective_curve.h"
#include "core/hardware/group_span.h"
#include "core/hardware/link_speeds.h"

namespace prism::hardware {

enum class CollectiveKind {
  kAllGather,
  kReduceScatter,
  kAllReduce,
  kAllToAll,
  kBroadcast,
};

// Switches reduce for groups with at least this many members in a node.
inline constexpr int kFewestForSwitch = 8;

// Time over bytes of the whole vector: of each member's result for all-gather,
// all-reduce and broadcast, of each member's input for reduce-scatter and
// all-to-all. Zero for one member. `in_switch`: SwitchesReduce().
CollectiveCurve CurveOf(CollectiveKind kind, const GroupSpan& span,
                        const LinkSpeeds& speeds, const NodeSpeeds& node,
                        bool in_switch);

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_COLLECTIVE_WAYS_H_
