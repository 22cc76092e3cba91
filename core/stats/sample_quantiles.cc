#include "core/stats/sample_quantiles.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/base/check.h"

namespace prism::stats {

double SortedQuantile(std::span<const double> sorted, double p) {
  PRISM_CHECK(!sorted.empty());
  const double position =
      std::clamp(p, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const size_t low = static_cast<size_t>(position);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  const double part = position - static_cast<double>(low);
  return sorted[low] + part * (sorted[high] - sorted[low]);
}

double SortedQuantileError(std::span<const double> sorted, double p) {
  const double deviation =
      std::sqrt(p * (1 - p) / static_cast<double>(sorted.size()));
  return (SortedQuantile(sorted, p + deviation) -
          SortedQuantile(sorted, p - deviation)) /
         2;
}

Moments SampleMoments(std::span<const double> values) {
  PRISM_CHECK(!values.empty());
  const double n = static_cast<double>(values.size());
  // Around the first value, so that nearly equal values lose no digits.
  const double origin = values[0];
  double sum = 0, squares = 0;
  for (double x : values) {
    sum += x - origin;
    squares += (x - origin) * (x - origin);
  }
  const double variance =
      n > 1 ? std::max(0.0, (squares - sum * sum / n) / (n - 1)) : 0;
  return {origin + sum / n, std::sqrt(variance)};
}

}  // namespace prism::stats
