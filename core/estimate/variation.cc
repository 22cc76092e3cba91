#include "core/estimate/variation.h"

#include <algorithm>
#include <cmath>

#include "core/hardware/link_spread.h"
#include "core/stats/normal.h"

namespace prism::estimate {

using stats::Distribution;

namespace {

// Share of a collective's mean that stalls make up at most.
constexpr double kMostStalled = 0.5;

}  // namespace

double SlowestFactor(int64_t gpus, const Variation& variation) {
  const auto n = static_cast<double>(gpus);
  return 1 + variation.gpu_sd * stats::NormalQuantile((n - 0.375) / (n + 0.25));
}

Variation Variation::Off() {
  return {.compute_cv = 0,
          .link_scatter = 0,
          .optimizer_cv = 0,
          .gpu_sd = 0,
          .step_cv = 0,
          .step_jitter_seconds = 0,
          .hitch_chance = 0,
          .stall_chance = 0};
}

double StepCv(double step_seconds, const Variation& variation) {
  return std::min(variation.most_step_cv,
                  std::hypot(variation.step_cv,
                             variation.step_jitter_seconds / step_seconds));
}

Distribution StepFactor(double step_seconds, const Variation& variation) {
  const double cv = StepCv(step_seconds, variation);
  if (cv <= 0) return Distribution::MakeConstant(1);
  return Distribution::MakeNormal(1, cv);
}

Distribution RareFactor(const Variation& variation) {
  const double hitch = variation.hitch_chance;
  const double stall = variation.stall_chance;
  if (hitch + stall <= 0) return Distribution::MakeConstant(1);
  const Distribution factor = Distribution::MakeMixture(
      {{1 - hitch - stall, Distribution::MakeConstant(1)},
       {hitch, Distribution::MakeShiftedExponential(1, variation.hitch_excess)},
       {stall,
        Distribution::MakeShiftedExponential(1, variation.stall_excess)}});
  return factor.ScaledBy(1 / factor.StatedMean());
}

Distribution ComputeTime(double seconds, double cv) {
  if (seconds <= 0 || cv <= 0) return Distribution::MakeConstant(seconds);
  return Distribution::MakeNormal(seconds, cv * seconds);
}

Distribution NetworkTime(const hardware::LinkTime& time,
                         const Variation& variation) {
  if (time.seconds <= 0) return Distribution::MakeConstant(0);
  const hardware::LinkSpread spread = hardware::SpreadOf(time);
  const double cv = variation.link_scatter * spread.core_cv;
  const double stalled = variation.link_scatter * spread.stall_probability;
  if (cv <= 0) return Distribution::MakeConstant(time.seconds);
  // Stalls are part of the mean, but never most of it.
  const double stall = stalled > 0
                           ? std::min(spread.stall_seconds,
                                      kMostStalled * time.seconds / stalled)
                           : 0;
  // An exponential's mean square is twice the square of its mean.
  const double stall_cv = std::sqrt(2 * stalled) * stall / time.seconds;
  if (stall_cv <= cv) {
    return Distribution::MakeLognormal(time.seconds, std::hypot(cv, stall_cv));
  }
  const double core = time.seconds - stalled * stall;
  return Distribution::MakeMixture(
      {{1 - stalled, Distribution::MakeLognormal(core, cv)},
       {stalled, Distribution::MakeShiftedExponential(core, stall)}});
}

}  // namespace prism::estimate
