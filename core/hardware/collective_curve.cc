#include "core/hardware/collective_curve.h"

#include <cmath>
#include <limits>

#include "core/base/check.h"

namespace prism::hardware {

void CollectiveCurve::Add(double latency, double seconds_per_byte,
                          double ramp_seconds) {
  PRISM_CHECK(count_ < kMostWays);
  ways_[static_cast<size_t>(count_++)] = {
      latency, seconds_per_byte, std::sqrt(ramp_seconds * seconds_per_byte)};
}

LinkTime CollectiveCurve::At(double bytes) const {
  if (count_ == 0) return {};
  const double root = std::sqrt(bytes);
  LinkTime best = {std::numeric_limits<double>::infinity(), 0};
  for (int i = 0; i < count_; ++i) {
    const Way& way = ways_[static_cast<size_t>(i)];
    const double seconds =
        way.latency + way.per_byte * bytes + way.per_root * root;
    if (seconds < best.seconds) best = {seconds, way.latency};
  }
  return best;
}

}  // namespace prism::hardware
