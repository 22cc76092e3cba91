// Timed stretches: a segment's operators and collectives in seconds, in as few
// draws as tell its time apart.
#ifndef PRISM_CORE_ESTIMATE_TIMED_STRETCH_H_
#define PRISM_CORE_ESTIMATE_TIMED_STRETCH_H_

#include <optional>
#include <vector>

#include "core/hardware/fabric.h"

namespace prism::estimate {

struct TimedStretch {
  double seconds = 0;  // of operators on each GPU
  bool recompute = false;
  std::optional<hardware::LinkTime> then;  // the lanes meet
  bool of_context = false;  // for a collective of their context group
};

// A repeated segment with fewer stretches and the same total time: those that
// end in no collective, and those too short to make anybody wait, join the
// next one of their kind; the latter's collectives join the one before, if that
// is of the same group. Next
// and before go round, as the segment is repeated.
std::vector<TimedStretch> JoinShortStretches(
    std::vector<TimedStretch> stretches);

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_TIMED_STRETCH_H_
