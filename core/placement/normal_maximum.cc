#include "core/placement/normal_maximum.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/check.h"
#include "core/stats/normal.h"

namespace prism::placement {
namespace {

// Nodes of the trapezoid rule, this far apart in deviations: its error for a
// function as smooth as a normal's is beyond rounding.
constexpr double kNodeDistance = 0.25;
constexpr int kTableEnd = 8;  // scores of the table: -8 to 8

// log of the normal distribution function at multiples of kNodeDistance / 16,
// linear between them.
class LogCdfTable {
 public:
  LogCdfTable() {
    for (size_t i = 0; i < values_.size(); ++i) {
      const double score = static_cast<double>(i) / kPerUnit - kTableEnd;
      values_[i] = std::log(stats::NormalCdf(score));
    }
  }

  double At(double score) const {
    if (score >= kTableEnd) return 0;
    const double place = std::max(0.0, (score + kTableEnd) * kPerUnit);
    const size_t node =
        std::min(static_cast<size_t>(place), values_.size() - 2);
    const double part = place - static_cast<double>(node);
    return values_[node] + part * (values_[node + 1] - values_[node]);
  }

 private:
  static constexpr int kPerUnit = 64;
  std::array<double, 2 * kTableEnd * kPerUnit + 1> values_;
};

double LogCdf(double score) {
  static const LogCdfTable table;
  return table.At(score);
}

}  // namespace

MaximumMoments MaximumOfNormals(std::span<const EqualNormals> normals,
                                double deviation) {
  PRISM_CHECK(!normals.empty());
  double top = normals.front().mean;
  for (const EqualNormals& equal : normals) top = std::max(top, equal.mean);
  if (deviation <= 0) return {top, 0};
  const int nodes =
      static_cast<int>(std::lround(2 * kNegligibleDeviations / kNodeDistance));
  std::array<double, 2 * 7 * 4 + 1> log_cdf = {};
  for (const EqualNormals& equal : normals) {
    const double behind = (top - equal.mean) / deviation;
    if (behind > kNegligibleDeviations) continue;
    for (int i = 0; i <= nodes; ++i) {
      log_cdf[i] += equal.count *
                    LogCdf(i * kNodeDistance - kNegligibleDeviations + behind);
    }
  }
  // E[M] = end - integral of F, E[M^2] likewise, in deviations from `top`. The
  // second integrand has slope 1 at its upper end, which the rule gets wrong by
  // the first term of Euler and Maclaurin's formula.
  double first = 0, second = 0;
  for (int i = 0; i <= nodes; ++i) {
    const double weight = i == 0 || i == nodes ? 0.5 : 1.0;
    const double cdf = std::exp(log_cdf[i]);
    const double score = i * kNodeDistance - kNegligibleDeviations;
    first += weight * cdf;
    second += weight * cdf * score;
  }
  const double mean = kNegligibleDeviations - kNodeDistance * first;
  const double square = kNegligibleDeviations * kNegligibleDeviations -
                        2 * kNodeDistance * (second - kNodeDistance / 12);
  return {top + deviation * mean,
          deviation * deviation * std::max(0.0, square - mean * mean)};
}

}  // namespace prism::placement
