// StepTime: the distribution of a step's duration, as an answer gives it.
#ifndef PRISM_CORE_STEP_STEP_TIME_H_
#define PRISM_CORE_STEP_STEP_TIME_H_

#include <array>
#include <cstdint>

namespace prism::step {

// The probabilities every answer gives quantiles for.
inline constexpr std::array<double, 7> kQuantileLevels = {
    0.01, 0.05, 0.25, 0.50, 0.75, 0.95, 0.99};

enum class Method { kAuto, kMonteCarlo };
enum class Quality { kExact, kReduced };

struct StepTime {
  double mean_seconds = 0;
  double standard_deviation_seconds = 0;
  // At kQuantileLevels, with their standard errors.
  std::array<double, 7> quantile_seconds = {};
  std::array<double, 7> standard_error_seconds = {};
  int64_t samples = 0;
  Method method = Method::kMonteCarlo;  // the one that was used
  Quality quality = Quality::kExact;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_STEP_TIME_H_
