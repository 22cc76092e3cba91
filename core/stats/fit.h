// Distributions fitted to samples.
//
//   normal               mean and standard deviation
//   gamma, lognormal     by maximum likelihood
//   shifted-exponential  the least sample, less its bias, and the mean above
//   core-tail            a lognormal of what lies within Tukey's far fence
//                        (three quartile distances above the upper quartile),
//                        and a shifted exponential of what lies above
//   empirical            the samples, of many their quantiles
//   best                 of all but empirical that which is closest
//
// How close is the Kolmogorov-Smirnov distance. Pure functions.
#ifndef PRISM_CORE_STATS_FIT_H_
#define PRISM_CORE_STATS_FIT_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/stats/distribution.h"

namespace prism::stats {

enum class FitFamily {
  kEmpirical,
  kNormal,
  kGamma,
  kLognormal,
  kShiftedExponential,
  kCoreTail,
  kBest,
};

// As above: "core-tail".
std::string_view FitFamilyName(FitFamily family);
std::optional<FitFamily> FitFamilyNamed(std::string_view name);
// All of them, as above.
std::span<const FitFamily> FitFamilies();

// Samples that an empirical fit keeps at most.
inline constexpr size_t kMostSamples = 400;

struct Fit {
  // What was fitted; kEmpirical for samples that are all equal, whose
  // distribution is a constant.
  FitFamily family = FitFamily::kEmpirical;
  Distribution distribution;
  double distance = 0;  // to the samples
};

// Requires: `samples` is not empty, all at least 0. Families whose draws
// cannot be 0 take samples of 0 as the least one above.
Fit FitDistribution(std::vector<double> samples, FitFamily family);

// Largest difference between the distribution functions of samples and of
// other samples or a law. Requires: samples ascending and not empty.
double KolmogorovSmirnovDistance(std::span<const double> a,
                                 std::span<const double> b);
double KolmogorovSmirnovDistance(std::span<const double> sorted,
                                 const Distribution& law);

}  // namespace prism::stats

#endif  // PRISM_CORE_STATS_FIT_H_
