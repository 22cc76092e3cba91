#include "core/stats/fit.h"

#include <algorithm>
#include <array>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <utility>

#include "core/stats/sample_quantiles.h"

namespace prism::stats {
namespace {

// Variance of logarithms beyond which likelihood has lost the samples' size:
// moments are fitted instead.
constexpr double kWidestLog = 10;

struct FamilyName {
  FitFamily family;
  std::string_view name;
};

constexpr std::array<FamilyName, 7> kNames = {{
    {FitFamily::kEmpirical, "empirical"},
    {FitFamily::kNormal, "normal"},
    {FitFamily::kGamma, "gamma"},
    {FitFamily::kLognormal, "lognormal"},
    {FitFamily::kShiftedExponential, "shifted-exponential"},
    {FitFamily::kCoreTail, "core-tail"},
    {FitFamily::kBest, "best"},
}};

constexpr std::array<FitFamily, 7> kFamilies = {FitFamily::kEmpirical,
                                                FitFamily::kNormal,
                                                FitFamily::kGamma,
                                                FitFamily::kLognormal,
                                                FitFamily::kShiftedExponential,
                                                FitFamily::kCoreTail,
                                                FitFamily::kBest};

double MeanLog(std::span<const double> samples) {
  double sum = 0;
  for (const double sample : samples) sum += std::log(sample);
  return sum / static_cast<double>(samples.size());
}

Distribution FitEmpirical(std::span<const double> sorted) {
  std::vector<double> samples(sorted.begin(), sorted.end());
  if (samples.size() > kMostSamples) {
    samples.clear();
    for (size_t i = 0; i < kMostSamples; ++i) {
      samples.push_back(SortedQuantile(
          sorted,
          (static_cast<double>(i) + 0.5) / static_cast<double>(kMostSamples)));
    }
  }
  return Distribution::MakeEmpirical(std::move(samples));
}

// Shape k solves log k - digamma(k) = log mean - mean log, which falls in k
// (Minka, "Estimating a Gamma distribution", 2002: start and iteration).
Distribution FitGamma(std::span<const double> sorted) {
  const double mean = SampleMoments(sorted).mean;
  const double gap = std::max(std::log(mean) - MeanLog(sorted), 1e-15);
  double shape =
      (3 - gap + std::sqrt((gap - 3) * (gap - 3) + 24 * gap)) / (12 * gap);
  for (int i = 0; i < 20; ++i) {
    // Beyond it the start is exact and the differences are rounding.
    if (shape > 1e6) break;
    const double slope = 1 / shape - boost::math::trigamma(shape);
    const double error = std::log(shape) - boost::math::digamma(shape) - gap;
    shape = 1 / (1 / shape + error / (shape * shape * slope));
  }
  return Distribution::MakeGamma(mean, 1 / std::sqrt(shape));
}

Distribution FitLognormal(std::span<const double> sorted) {
  const double mu = MeanLog(sorted);
  double variance = 0;
  for (const double sample : sorted) {
    const double difference = std::log(sample) - mu;
    variance += difference * difference / static_cast<double>(sorted.size());
  }
  if (variance > kWidestLog) {
    const Moments moments = SampleMoments(sorted);
    return Distribution::MakeLognormal(
        moments.mean, moments.standard_deviation / moments.mean);
  }
  return Distribution::MakeLognormal(std::exp(mu + variance / 2),
                                     std::sqrt(std::expm1(variance)));
}

// The least of n samples lies a mean excess / n above the shift.
Distribution FitShiftedExponential(std::span<const double> sorted) {
  const auto n = static_cast<double>(sorted.size());
  const double mean = SampleMoments(sorted).mean;
  const double excess = (mean - sorted.front()) * n / std::max(n - 1, 1.0);
  const double shift = std::max(0.0, sorted.front() - excess / n);
  return Distribution::MakeShiftedExponential(shift, mean - shift);
}

Distribution FitCore(std::span<const double> sorted) {
  if (sorted.front() == sorted.back())
    return Distribution::MakeConstant(sorted.front());
  return FitLognormal(sorted);
}

Distribution FitCoreTail(std::span<const double> sorted) {
  const double quartile = SortedQuantile(sorted, 0.75);
  const double fence = quartile + 3 * (quartile - SortedQuantile(sorted, 0.25));
  const auto first = std::upper_bound(sorted.begin(), sorted.end(), fence);
  const auto in_core = static_cast<size_t>(first - sorted.begin());
  const auto core = sorted.first(in_core), tail = sorted.subspan(in_core);
  if (tail.empty()) return FitCore(core);
  const Distribution beyond = tail.front() == tail.back()
                                  ? Distribution::MakeConstant(tail.front())
                                  : FitShiftedExponential(tail);
  return Distribution::MakeMixture(
      {{static_cast<double>(core.size()), FitCore(core)},
       {static_cast<double>(tail.size()), beyond}});
}

Distribution FitFamilyTo(std::span<const double> sorted, FitFamily family) {
  const Moments moments = SampleMoments(sorted);
  switch (family) {
    case FitFamily::kNormal:
      return Distribution::MakeNormal(moments.mean, moments.standard_deviation);
    case FitFamily::kGamma:
      return FitGamma(sorted);
    case FitFamily::kLognormal:
      return FitLognormal(sorted);
    case FitFamily::kShiftedExponential:
      return FitShiftedExponential(sorted);
    case FitFamily::kCoreTail:
      return FitCoreTail(sorted);
    default:
      return FitEmpirical(sorted);
  }
}

// Laws of logarithms know no 0.
std::vector<double> WithoutZeros(std::vector<double> sorted) {
  const auto above = std::upper_bound(sorted.begin(), sorted.end(), 0.0);
  std::fill(sorted.begin(), above, *above);
  return sorted;
}

Fit FitOne(std::span<const double> sorted, std::span<const double> positive,
           FitFamily family) {
  const bool takes_zeros = family == FitFamily::kEmpirical ||
                           family == FitFamily::kNormal ||
                           family == FitFamily::kShiftedExponential;
  Fit fit{family, FitFamilyTo(takes_zeros ? sorted : positive, family), 0};
  fit.distance = KolmogorovSmirnovDistance(sorted, fit.distribution);
  return fit;
}

}  // namespace

std::string_view FitFamilyName(FitFamily family) {
  return kNames[static_cast<size_t>(family)].name;
}

std::optional<FitFamily> FitFamilyNamed(std::string_view name) {
  for (const FamilyName& known : kNames) {
    if (known.name == name) return known.family;
  }
  return std::nullopt;
}

std::span<const FitFamily> FitFamilies() { return kFamilies; }

Fit FitDistribution(std::vector<double> samples, FitFamily family) {
  std::sort(samples.begin(), samples.end());
  if (samples.front() == samples.back()) {
    return {FitFamily::kEmpirical, Distribution::MakeConstant(samples.front()),
            0};
  }
  const std::vector<double> positive = WithoutZeros(samples);
  if (family != FitFamily::kBest) return FitOne(samples, positive, family);
  std::optional<Fit> best;
  for (const FitFamily candidate : kFamilies) {
    if (candidate == FitFamily::kEmpirical || candidate == FitFamily::kBest)
      continue;
    Fit fit = FitOne(samples, positive, candidate);
    if (!best || fit.distance < best->distance) best = std::move(fit);
  }
  return *best;
}

double KolmogorovSmirnovDistance(std::span<const double> a,
                                 std::span<const double> b) {
  const auto share = [](size_t below, std::span<const double> of) {
    return static_cast<double>(below) / static_cast<double>(of.size());
  };
  double distance = 0;
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const double value = std::min(a[i], b[j]);
    while (i < a.size() && a[i] == value) ++i;
    while (j < b.size() && b[j] == value) ++j;
    distance = std::max(distance, std::abs(share(i, a) - share(j, b)));
  }
  return distance;
}

double KolmogorovSmirnovDistance(std::span<const double> sorted,
                                 const Distribution& law) {
  const auto n = static_cast<double>(sorted.size());
  double distance = 0;
  for (size_t i = 0; i < sorted.size();) {
    size_t next = i + 1;
    while (next < sorted.size() && sorted[next] == sorted[i]) ++next;
    const double at = law.Cdf(sorted[i]);
    const double before = law.Cdf(std::nextafter(sorted[i], 0.0));
    distance = std::max({distance, std::abs(at - static_cast<double>(next) / n),
                         std::abs(before - static_cast<double>(i) / n)});
    i = next;
  }
  return distance;
}

}  // namespace prism::stats
