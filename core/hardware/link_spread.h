// LinkSpread: how single collectives scatter about their nominal time.
//
// Fitted by eye to single all-reduces over 4, 16 and 32 nodes of MareNostrum 5
// (tests/data/collectives/spread.csv); link_spread_test.cc holds it to them.
#ifndef PRISM_CORE_HARDWARE_LINK_SPREAD_H_
#define PRISM_CORE_HARDWARE_LINK_SPREAD_H_

#include "core/hardware/collective_curve.h"

namespace prism::hardware {

struct LinkSpread {
  double core_cv = 0;  // of what is not stalled
  double stall_probability = 0;
  double stall_seconds = 0;  // that a stall adds, on average
};

// Expected stalls of one collective: one node in 1,700 holds its group up for
// a while, whatever the size. Of groups inside one node nothing was measured;
// there GPUs need no host to pass data on, and Fabric lets none stall.
// Requires: nodes >= 1.
double StallsOf(double nodes);

// Waits scatter by 3.5%, transfers by 0.9%, stalls come as `time` says.
LinkSpread SpreadOf(const LinkTime& time);

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_LINK_SPREAD_H_
