#include "core/estimate/variation.h"

#include "core/stats/normal.h"

namespace prism::estimate {

using stats::Distribution;

double SlowestFactor(int64_t gpus, const Variation& variation) {
  const auto n = static_cast<double>(gpus);
  return 1 + variation.gpu_sd * stats::NormalQuantile((n - 0.375) / (n + 0.25));
}

Distribution ComputeTime(double seconds, double cv) {
  if (seconds <= 0 || cv <= 0) return Distribution::MakeConstant(seconds);
  return Distribution::MakeNormal(seconds, cv * seconds);
}

Distribution NetworkTime(const hardware::LinkTime& time,
                         const Variation& variation) {
  if (time.seconds <= 0) return Distribution::MakeConstant(0);
  const double latency_share = time.latency_seconds / time.seconds;
  const double cv = latency_share * variation.latency_cv +
                    (1 - latency_share) * variation.bandwidth_cv;
  if (cv <= 0) return Distribution::MakeConstant(time.seconds);
  return Distribution::MakeLognormal(time.seconds, cv);
}

}  // namespace prism::estimate
