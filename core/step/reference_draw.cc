#include "core/step/reference_draw.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace prism::step {

double ReferenceMean(const stats::Distribution& distribution) {
  const auto& kind = distribution.kind();
  if (auto* x = std::get_if<stats::Constant>(&kind)) return x->value;
  if (auto* x = std::get_if<stats::Normal>(&kind)) return x->mean;
  if (auto* x = std::get_if<stats::Lognormal>(&kind)) return x->mean;
  if (auto* x = std::get_if<stats::ShiftedExponential>(&kind)) {
    return x->shift + x->mean_excess;
  }
  if (auto* x = std::get_if<stats::Gamma>(&kind)) return x->mean;
  double sum = 0;
  if (auto* x = std::get_if<stats::Empirical>(&kind)) {
    for (double sample : *x->sorted_samples) sum += sample;
    return sum / static_cast<double>(x->sorted_samples->size());
  }
  for (const auto& part : *std::get<stats::Mixture>(kind).components) {
    sum += part.weight * ReferenceMean(part.distribution);
  }
  return sum;
}

double ReferenceDraw(const stats::Distribution& distribution,
                     std::mt19937_64& generator) {
  const auto& kind = distribution.kind();
  if (auto* x = std::get_if<stats::Constant>(&kind)) return x->value;
  if (auto* x = std::get_if<stats::Normal>(&kind)) {
    const double z = std::normal_distribution<>()(generator);
    return std::max(0.0, x->mean + x->sd * z);
  }
  if (auto* x = std::get_if<stats::Lognormal>(&kind)) {
    // The logarithm has variance log(1 + cv^2) and the mean that gives E =
    // mean.
    const double variance = std::log(1 + x->cv * x->cv);
    const double z = std::normal_distribution<>()(generator);
    return x->mean * std::exp(std::sqrt(variance) * z - variance / 2);
  }
  if (auto* x = std::get_if<stats::ShiftedExponential>(&kind)) {
    return x->shift +
           std::exponential_distribution<>(1 / x->mean_excess)(generator);
  }
  if (auto* x = std::get_if<stats::Gamma>(&kind)) {
    if (x->cv == 0) return x->mean;
    const double shape = 1 / (x->cv * x->cv);
    return std::gamma_distribution<>(shape, x->mean / shape)(generator);
  }
  if (auto* x = std::get_if<stats::Empirical>(&kind)) {
    const size_t last = x->sorted_samples->size() - 1;
    return (*x->sorted_samples)[std::uniform_int_distribution<size_t>(
        0, last)(generator)];
  }
  std::vector<double> weights;
  const auto& parts = *std::get<stats::Mixture>(kind).components;
  for (const auto& part : parts) weights.push_back(part.weight);
  std::discrete_distribution<size_t> choice(weights.begin(), weights.end());
  return ReferenceDraw(parts[choice(generator)].distribution, generator);
}

}  // namespace prism::step
