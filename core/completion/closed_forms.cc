#include "core/completion/closed_forms.h"

#include <boost/math/special_functions/lambert_w.hpp>
#include <cmath>
#include <limits>

namespace prism::completion {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

double MeanTimeToFailureSeconds(int64_t nodes, double failures_per_node_day) {
  const double per_day = static_cast<double>(nodes) * failures_per_node_day;
  return per_day > 0 ? kSecondsPerDay / per_day : kInfinity;
}

double FirstOrderRatio(const CheckpointCycle& cycle) {
  const double lost = cycle.restart_seconds + cycle.interval_seconds / 2;
  return (1 - cycle.failures_per_second * lost) /
         (1 + cycle.blocking_seconds / cycle.interval_seconds);
}

double ExactRatio(const CheckpointCycle& cycle) {
  const double rate = cycle.failures_per_second;
  const double period = cycle.interval_seconds + cycle.blocking_seconds;
  // (e^x - 1) / x tends to 1.
  const double growth =
      rate > 0 ? std::expm1(rate * period) / (rate * period) : 1;
  const double unsaved = cycle.restart_seconds + cycle.non_blocking_seconds;
  return cycle.interval_seconds / period / growth * std::exp(-rate * unsaved);
}

double FirstOrderInterval(double failures_per_second, double blocking_seconds) {
  return failures_per_second > 0
             ? std::sqrt(2 * blocking_seconds / failures_per_second)
             : kInfinity;
}

double ExactInterval(double failures_per_second, double blocking_seconds) {
  if (failures_per_second <= 0) return kInfinity;
  const double x = failures_per_second * blocking_seconds;
  // Near its branch point 1 + W loses digits; its series there does not.
  const double s = std::sqrt(-2 * std::expm1(-x));
  const double lw = s < 1e-3 ? s - s * s / 3 + 11 * s * s * s / 72
                             : 1 + boost::math::lambert_w0(-std::exp(-x - 1));
  return lw / failures_per_second;
}

}  // namespace prism::completion
