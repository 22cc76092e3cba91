#include "core/estimate/overlap.h"

#include <algorithm>

namespace prism::estimate {
namespace {

using hardware::LinkTime;

// `seconds` are left of `time`, latencies and stalls in proportion.
LinkTime Left(const LinkTime& time, double seconds) {
  if (time.seconds <= 0) return {};
  const double share = std::min(1.0, seconds / time.seconds);
  return {.seconds = seconds,
          .latency_seconds = time.latency_seconds * share,
          .stalls = time.stalls * share};
}

}  // namespace

const calibration::FrameworkCosts& CostsOf(
    workload::Framework framework, const calibration::Constants& constants) {
  switch (framework) {
    case workload::Framework::kMegatronLm:
      return constants.megatron_lm;
    case workload::Framework::kMegatronCore:
      return constants.megatron_core;
    case workload::Framework::kFsdp:
      return constants.fsdp;
    case workload::Framework::kTorchtitan:
      return constants.torchtitan;
  }
  return constants.megatron_lm;
}

Traffic& Traffic::operator+=(const Traffic& other) {
  time += other.time;
  link_seconds += other.link_seconds;
  return *this;
}

LinkTime BesideProducts(const LinkTime& time, double product_seconds,
                        double stays) {
  return Left(time, time.seconds -
                        (1 - stays) * std::min(time.seconds, product_seconds));
}

LinkTime BesideCompute(const Traffic& traffic, double window_seconds,
                       double alone, const calibration::OverlapCosts& costs) {
  const double seconds = traffic.time.seconds;
  const double hidden = (1 - alone) * seconds;
  const double taken =
      costs.contention *
      std::min((1 - alone) * traffic.link_seconds / costs.link_share,
               window_seconds);
  // No worse than one after the other.
  return Left(traffic.time,
              alone * seconds +
                  std::min(hidden, std::max(hidden - window_seconds, taken)));
}

}  // namespace prism::estimate
