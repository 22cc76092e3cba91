// The normal law and gamma quantiles by normal score, in scalar form.
#ifndef PRISM_CORE_STATS_NORMAL_H_
#define PRISM_CORE_STATS_NORMAL_H_

#include "core/stats/distribution.h"

namespace prism::stats {

// P(Z <= z) of a standard normal, and its density.
double NormalCdf(double z);
double NormalDensity(double z);

// z with NormalCdf(z) = p. Requires: 0 < p < 1.
double NormalQuantile(double p);

// Logarithm of the gamma quantile at p = NormalCdf(score). Accurate in both
// tails; finite for scores within +-10. Requires: gamma.cv > 0.
double LogGammaQuantileAtScore(const Gamma& gamma, double score);

}  // namespace prism::stats

#endif  // PRISM_CORE_STATS_NORMAL_H_
