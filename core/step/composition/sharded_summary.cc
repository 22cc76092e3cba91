#include "core/step/composition/sharded_summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/stats/sample_quantiles.h"

namespace prism::step {
namespace {

using Levels = std::array<double, kQuantileLevels.size()>;

std::vector<double> Merge(const std::vector<std::vector<double>>& sorted) {
  std::vector<double> all, merged;
  for (const auto& batch : sorted) {
    merged.clear();
    merged.reserve(all.size() + batch.size());
    std::merge(all.begin(), all.end(), batch.begin(), batch.end(),
               std::back_inserter(merged));
    std::swap(all, merged);
  }
  return all;
}

// Variance of the mean of the batches' quantiles at one level.
double VarianceAt(const std::vector<std::vector<double>>& sorted, double p) {
  std::vector<double> quantiles;
  for (const auto& batch : sorted) {
    quantiles.push_back(stats::SortedQuantile(batch, p));
  }
  const double scatter = stats::SampleMoments(quantiles).standard_deviation;
  return scatter * scatter / static_cast<double>(sorted.size());
}

// By how much the batches agree better than plain samples would.
Levels Ratios(const std::vector<std::vector<double>>& sorted,
              const Levels& plain) {
  Levels squares = {}, ratios = {};
  double pooled = 0;
  int levels = 0;
  for (size_t q = 0; q < kQuantileLevels.size(); ++q) {
    if (plain[q] <= 0) continue;
    squares[q] = VarianceAt(sorted, kQuantileLevels[q]) / (plain[q] * plain[q]);
    pooled += squares[q];
    ++levels;
  }
  for (size_t q = 0; q < kQuantileLevels.size(); ++q) {
    ratios[q] = std::sqrt((squares[q] + pooled / std::max(levels, 1)) / 2);
  }
  return ratios;
}

}  // namespace

StepTime SummariseBatches(const std::vector<std::vector<double>>& batches) {
  StepTime time;
  const std::vector<double> all = Merge(batches);
  const auto moments = stats::SampleMoments(all);
  time.mean_seconds = moments.mean;
  time.standard_deviation_seconds = moments.standard_deviation;
  for (size_t q = 0; q < kQuantileLevels.size(); ++q) {
    time.quantile_seconds[q] = stats::SortedQuantile(all, kQuantileLevels[q]);
    time.standard_error_seconds[q] =
        stats::SortedQuantileError(all, kQuantileLevels[q]);
  }
  if (batches.size() > 1) {
    const Levels ratios = Ratios(batches, time.standard_error_seconds);
    for (size_t q = 0; q < kQuantileLevels.size(); ++q) {
      time.standard_error_seconds[q] *= ratios[q];
    }
  }
  time.samples = static_cast<int64_t>(all.size());
  return time;
}

std::array<double, kQuantileLevels.size()> RootMeanDifference(
    const std::vector<std::vector<double>>& batches,
    const std::vector<std::vector<double>>& others) {
  Levels difference = {};
  const size_t pairs = std::min(batches.size(), others.size());
  if (pairs == 0) return difference;
  double pooled = 0;
  for (size_t q = 0; q < difference.size(); ++q) {
    for (size_t i = 0; i < pairs; ++i) {
      difference[q] += stats::SortedQuantile(batches[i], kQuantileLevels[q]) -
                       stats::SortedQuantile(others[i], kQuantileLevels[q]);
    }
    difference[q] /= static_cast<double>(pairs);
    pooled += difference[q] * difference[q] / difference.size();
  }
  for (double& d : difference) d = std::sqrt((d * d + pooled) / 2);
  return difference;
}

}  // namespace prism::step
