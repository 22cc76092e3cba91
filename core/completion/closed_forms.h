// Closed forms of checkpoint and restart under a constant failure rate.
//
// Long-run values for quick answers, for choosing an interval and for holding
// the simulation against. Formulas: docs/model/completion.md. Pure functions.
#ifndef PRISM_CORE_COMPLETION_CLOSED_FORMS_H_
#define PRISM_CORE_COMPLETION_CLOSED_FORMS_H_

#include <cstdint>

namespace prism::completion {

inline constexpr double kSecondsPerDay = 86400;

// Of a series system, 1 / (N r). Infinite where the rate is 0.
double MeanTimeToFailureSeconds(int64_t nodes, double failures_per_node_day);

// One checkpoint after the other, with failures in between. All at least 0.
struct CheckpointCycle {
  double failures_per_second = 0;
  double restart_seconds = 0;
  double interval_seconds = 0;  // of work between two writes, above 0
  double blocking_seconds = 0;
  double non_blocking_seconds = 0;
};

// Effective training time ratio to first order in the rate,
// (1 - L (u + D/2)) / (1 + w/D), arXiv:2410.21680; below 0 where failures
// outrun it. Knows no non-blocking part.
double FirstOrderRatio(const CheckpointCycle& cycle);

// Exact for exponential failures, also during restart and writes:
// L D / ((e^(L (D + w)) - 1) e^(L (u + v))), v the non-blocking part.
double ExactRatio(const CheckpointCycle& cycle);

// sqrt(2 w / L): minimises lost and writing time to first order (Young 1974).
// Infinite where the rate is 0.
double FirstOrderInterval(double failures_per_second, double blocking_seconds);

// The interval with the largest ExactRatio: (1 + W(-e^(-L w - 1))) / L, W
// Lambert's function. Infinite where the rate is 0.
double ExactInterval(double failures_per_second, double blocking_seconds);

}  // namespace prism::completion

#endif  // PRISM_CORE_COMPLETION_CLOSED_FORMS_H_
