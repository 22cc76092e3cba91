#include "core/hardware/link_spread.h"

#include <algorithm>

namespace prism::hardware {
namespace {

constexpr double kLatencyCv = 0.035;
constexpr double kTransferCv = 0.009;
constexpr double kStallsOfANode = 6e-4;
constexpr double kStallSeconds = 130e-6;

}  // namespace

double StallsOf(double nodes) { return kStallsOfANode * nodes; }

LinkSpread SpreadOf(const LinkTime& time) {
  if (time.seconds <= 0) return {};
  const double share = time.latency_seconds / time.seconds;
  return {.core_cv = share * kLatencyCv + (1 - share) * kTransferCv,
          .stall_probability = std::min(1.0, time.stalls),
          .stall_seconds = kStallSeconds};
}

}  // namespace prism::hardware
