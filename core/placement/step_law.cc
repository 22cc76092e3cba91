#include "core/placement/step_law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/stats/normal.h"
#include "core/stats/sample_quantiles.h"

namespace prism::placement {
namespace {

using step::kQuantileLevels;
using step::StepTime;

constexpr size_t kLevels = kQuantileLevels.size();

// A mixture is that of this many bins of its scenarios.
constexpr size_t kBins = 24;
// Quantiles lie within so many deviations, and are found to a 2^-kHalvings of
// that.
constexpr double kReach = 12;
constexpr int kHalvings = 20;

std::array<double, kLevels> LevelScores() {
  std::array<double, kLevels> scores;
  for (size_t i = 0; i < kLevels; ++i) {
    scores[i] = stats::NormalQuantile(kQuantileLevels[i]);
  }
  return scores;
}

// Line through the two of `x` around `at`, extended beyond the ends.
double Interpolated(const std::array<double, kLevels>& x,
                    const std::array<double, kLevels>& y, double at) {
  size_t i = 1;
  while (i + 1 < kLevels && x[i] < at) ++i;
  const double width = x[i] - x[i - 1];
  if (width <= 0) return y[i];
  return y[i - 1] + (at - x[i - 1]) / width * (y[i] - y[i - 1]);
}

// Means of kBins equally likely bins, stretched to the deviation of all.
std::vector<double> BinMeans(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t bins = std::min(kBins, sorted.size());
  std::vector<double> means;
  for (size_t b = 0; b < bins; ++b) {
    const size_t first = b * sorted.size() / bins;
    const size_t end = (b + 1) * sorted.size() / bins;
    double sum = 0;
    for (size_t i = first; i < end; ++i) sum += sorted[i];
    means.push_back(sum / static_cast<double>(end - first));
  }
  const auto all = stats::SampleMoments(values);
  double squares = 0;
  for (const double mean : means) {
    squares += (mean - all.mean) * (mean - all.mean);
  }
  const double stretch =
      squares > 0 ? all.standard_deviation /
                        std::sqrt(squares / static_cast<double>(means.size()))
                  : 1;
  for (double& mean : means) mean = all.mean + stretch * (mean - all.mean);
  return means;
}

}  // namespace

double QuantileOf(const StepTime& law, double level) {
  return Interpolated(LevelScores(), law.quantile_seconds,
                      stats::NormalQuantile(level));
}

StepLaw::StepLaw(const StepTime& simulated, const StepMoments& moments)
    : simulated_(simulated), moments_(moments), level_scores_(LevelScores()) {}

StepTime StepLaw::Moved(const StepMoments& moments) const {
  StepTime law = simulated_;
  law.mean_seconds = MeanOf(moments.mean);
  // What all ranks share scales with the step; the rest is its replicas'.
  const double stretch = law.mean_seconds / simulated_.mean_seconds;
  const double spread = simulated_.standard_deviation_seconds;
  const double variance =
      stretch * stretch * (spread * spread - moments_.variance) +
      moments.variance;
  const double scale =
      spread > 0 ? std::sqrt(std::max(variance, 0.0)) / spread : 1;
  law.standard_deviation_seconds = scale * spread;
  for (size_t i = 0; i < kLevels; ++i) {
    law.quantile_seconds[i] =
        law.mean_seconds +
        scale * (simulated_.quantile_seconds[i] - simulated_.mean_seconds);
    law.standard_error_seconds[i] =
        scale * simulated_.standard_error_seconds[i];
  }
  return law;
}

double StepLaw::Cdf(const StepTime& at, double seconds) const {
  return stats::NormalCdf(
      Interpolated(at.quantile_seconds, level_scores_, seconds));
}

StepTime StepLaw::Mixed(const StepMoments& moments,
                        std::span<const double> scenario_means) const {
  const StepTime around = Moved(moments);
  const auto doubt = stats::SampleMoments(scenario_means);
  if (doubt.standard_deviation <= 0) return around;
  StepTime law = around;
  law.standard_deviation_seconds =
      std::hypot(around.standard_deviation_seconds, doubt.standard_deviation);
  const std::vector<double> means = BinMeans(scenario_means);
  auto mixed_cdf = [&](double seconds) {
    double sum = 0;
    for (const double mean : means) {
      sum += Cdf(around, seconds - (mean - moments.mean));
    }
    return sum / static_cast<double>(means.size());
  };
  const double reach = kReach * law.standard_deviation_seconds;
  for (size_t i = 0; i < kLevels; ++i) {
    double low = law.mean_seconds - reach, high = law.mean_seconds + reach;
    for (int halving = 0; halving < kHalvings; ++halving) {
      const double middle = (low + high) / 2;
      (mixed_cdf(middle) < kQuantileLevels[i] ? low : high) = middle;
    }
    law.quantile_seconds[i] = high;
  }
  return law;
}

}  // namespace prism::placement
