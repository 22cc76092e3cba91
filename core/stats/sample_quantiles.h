// Quantiles of a sample and how sure they are.
#ifndef PRISM_CORE_STATS_SAMPLE_QUANTILES_H_
#define PRISM_CORE_STATS_SAMPLE_QUANTILES_H_

#include <span>

namespace prism::stats {

// The p-quantile of `sorted` by linear interpolation between order statistics
// (type 7 of Hyndman and Fan, 1996). Requires: sorted ascending, not empty;
// 0 <= p <= 1.
double SortedQuantile(std::span<const double> sorted, double p);

// Standard error of that quantile: half the distance between the quantiles one
// binomial standard deviation, sqrt(p (1 - p) / n), to either side.
double SortedQuantileError(std::span<const double> sorted, double p);

struct Moments {
  double mean = 0;
  double standard_deviation = 0;  // of the sample, n - 1 in the denominator
};

// Requires: not empty. The standard deviation of one value is 0.
Moments SampleMoments(std::span<const double> values);

}  // namespace prism::stats

#endif  // PRISM_CORE_STATS_SAMPLE_QUANTILES_H_
