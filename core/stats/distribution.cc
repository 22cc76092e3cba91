#include "core/stats/distribution.h"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numeric>

#include "core/base/check.h"
#include "core/stats/normal.h"

namespace prism::stats {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

double LogVariance(const Lognormal& x) { return std::log1p(x.cv * x.cv); }

double LogMean(const Lognormal& x) {
  return std::log(x.mean) - LogVariance(x) / 2;
}

// First two moments of a normal cut at 0, X = max(0, Y).
double CutMean(const Normal& x) {
  if (x.sd == 0) return x.mean;
  const double z = x.mean / x.sd;
  return x.mean * NormalCdf(z) + x.sd * NormalDensity(z);
}

double CutVariance(const Normal& x) {
  if (x.sd == 0) return 0;
  const double z = x.mean / x.sd;
  const double mean = CutMean(x);
  const double square = (x.mean * x.mean + x.sd * x.sd) * NormalCdf(z) +
                        x.mean * x.sd * NormalDensity(z);
  return std::max(0.0, square - mean * mean);
}

double SampleMean(const std::vector<double>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) /
         static_cast<double>(samples.size());
}

double SampleVariance(const std::vector<double>& samples) {
  const double mean = SampleMean(samples);
  double sum = 0;
  for (double x : samples) sum += (x - mean) * (x - mean);
  return sum / static_cast<double>(samples.size());
}

// Far from the mean of a narrow gamma, intermediate results overflow on the way
// to 0; that must not throw.
using Policy = boost::math::policies::policy<
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<
        boost::math::policies::ignore_error>>;

double GammaCdf(const Gamma& g, double x) {
  if (x <= 0) return 0;
  if (g.cv == 0) return x >= g.mean ? 1 : 0;
  const double shape = 1 / (g.cv * g.cv);
  return boost::math::gamma_p(shape, x * shape / g.mean, Policy());
}

// Smallest x with cdf(x) >= p, by bisection between brackets.
double InvertCdf(const Distribution& d, double p, double low, double high) {
  for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {
    const double middle = low + (high - low) / 2;
    (d.Cdf(middle) >= p ? high : low) = middle;
  }
  return high;
}

double MixtureQuantile(const Distribution& d, const Mixture& mixture,
                       double p) {
  double low = INFINITY, high = 0;
  for (const auto& component : *mixture.components) {
    const double q = component.distribution.Quantile(p);
    low = std::min(low, q);
    high = std::max(high, q);
  }
  return InvertCdf(d, p, low, high);
}

}  // namespace

Distribution Distribution::MakeConstant(double value) {
  return Distribution(Kind(Constant{value}));
}

Distribution Distribution::MakeNormal(double mean, double sd) {
  return Distribution(Kind(Normal{mean, sd}));
}

Distribution Distribution::MakeLognormal(double mean, double cv) {
  return Distribution(Kind(Lognormal{mean, cv}));
}

Distribution Distribution::MakeShiftedExponential(double shift,
                                                  double mean_excess) {
  return Distribution(Kind(ShiftedExponential{shift, mean_excess}));
}

Distribution Distribution::MakeGamma(double mean, double cv) {
  return Distribution(Kind(Gamma{mean, cv}));
}

Distribution Distribution::MakeEmpirical(std::vector<double> samples) {
  PRISM_CHECK(!samples.empty());
  std::sort(samples.begin(), samples.end());
  return Distribution(Kind(Empirical{
      std::make_shared<const std::vector<double>>(std::move(samples))}));
}

Distribution Distribution::MakeMixture(
    std::vector<MixtureComponent> components) {
  double sum = 0;
  for (const auto& component : components) sum += component.weight;
  PRISM_CHECK(sum > 0);
  std::vector<MixtureComponent> flat;
  for (auto& component : components) {
    const double weight = component.weight / sum;
    if (weight == 0) continue;
    if (const auto* inner =
            std::get_if<Mixture>(&component.distribution.kind_)) {
      for (const auto& leaf : *inner->components) {
        flat.push_back({weight * leaf.weight, leaf.distribution});
      }
    } else {
      flat.push_back({weight, std::move(component.distribution)});
    }
  }
  if (flat.size() == 1) return flat.front().distribution;
  return Distribution(Kind(Mixture{
      std::make_shared<const std::vector<MixtureComponent>>(std::move(flat))}));
}

Distribution Distribution::ScaledBy(double factor) const {
  PRISM_CHECK(factor >= 0);
  if (factor == 0) return MakeConstant(0);
  return std::visit(
      Overloaded{
          [&](const Constant& x) { return MakeConstant(x.value * factor); },
          [&](const Normal& x) {
            return MakeNormal(x.mean * factor, x.sd * factor);
          },
          [&](const Lognormal& x) {
            return MakeLognormal(x.mean * factor, x.cv);
          },
          [&](const ShiftedExponential& x) {
            return MakeShiftedExponential(x.shift * factor,
                                          x.mean_excess * factor);
          },
          [&](const Gamma& x) { return MakeGamma(x.mean * factor, x.cv); },
          [&](const Empirical& x) {
            std::vector<double> scaled = *x.sorted_samples;
            for (double& sample : scaled) sample *= factor;
            return MakeEmpirical(std::move(scaled));
          },
          [&](const Mixture& x) {
            std::vector<MixtureComponent> scaled = *x.components;
            for (auto& component : scaled) {
              component.distribution = component.distribution.ScaledBy(factor);
            }
            return MakeMixture(std::move(scaled));
          }},
      kind_);
}

double Distribution::StatedMean() const {
  if (const auto* normal = std::get_if<Normal>(&kind_)) return normal->mean;
  if (const auto* mixture = std::get_if<Mixture>(&kind_)) {
    double sum = 0;
    for (const auto& component : *mixture->components) {
      sum += component.weight * component.distribution.StatedMean();
    }
    return sum;
  }
  return Mean();
}

double Distribution::Mean() const {
  return std::visit(
      Overloaded{
          [](const Constant& x) { return x.value; },
          [](const Normal& x) { return CutMean(x); },
          [](const Lognormal& x) { return x.mean; },
          [](const ShiftedExponential& x) { return x.shift + x.mean_excess; },
          [](const Gamma& x) { return x.mean; },
          [](const Empirical& x) { return SampleMean(*x.sorted_samples); },
          [](const Mixture& x) {
            double sum = 0;
            for (const auto& component : *x.components) {
              sum += component.weight * component.distribution.Mean();
            }
            return sum;
          }},
      kind_);
}

double Distribution::Variance() const {
  return std::visit(
      Overloaded{
          [](const Constant&) { return 0.0; },
          [](const Normal& x) { return CutVariance(x); },
          [](const Lognormal& x) { return x.mean * x.mean * x.cv * x.cv; },
          [](const ShiftedExponential& x) {
            return x.mean_excess * x.mean_excess;
          },
          [](const Gamma& x) { return x.mean * x.mean * x.cv * x.cv; },
          [](const Empirical& x) { return SampleVariance(*x.sorted_samples); },
          [this](const Mixture& x) {
            const double mean = Mean();
            double sum = 0;
            for (const auto& [weight, part] : *x.components) {
              const double offset = part.Mean() - mean;
              sum += weight * (part.Variance() + offset * offset);
            }
            return sum;
          }},
      kind_);
}

bool Distribution::IsConstant() const {
  return std::visit(
      Overloaded{[](const Constant&) { return true; },
                 [](const Normal& x) { return x.sd == 0; },
                 [](const Lognormal& x) { return x.cv == 0; },
                 [](const ShiftedExponential&) { return false; },
                 [](const Gamma& x) { return x.cv == 0; },
                 [](const Empirical& x) {
                   return x.sorted_samples->front() == x.sorted_samples->back();
                 },
                 [](const Mixture& x) {
                   const auto& parts = *x.components;
                   return std::all_of(
                       parts.begin(), parts.end(), [&](const auto& part) {
                         return part.distribution.IsConstant() &&
                                part.distribution.Mean() ==
                                    parts.front().distribution.Mean();
                       });
                 }},
      kind_);
}

double Distribution::Cdf(double x) const {
  if (x < 0) return 0;
  return std::visit(
      Overloaded{
          [x](const Constant& c) { return x >= c.value ? 1.0 : 0.0; },
          [x](const Normal& n) {
            if (n.sd == 0) return x >= n.mean ? 1.0 : 0.0;
            return NormalCdf((x - n.mean) / n.sd);
          },
          [x](const Lognormal& l) {
            if (l.cv == 0) return x >= l.mean ? 1.0 : 0.0;
            if (x == 0) return 0.0;
            return NormalCdf((std::log(x) - LogMean(l)) /
                             std::sqrt(LogVariance(l)));
          },
          [x](const ShiftedExponential& e) {
            return x <= e.shift ? 0.0
                                : -std::expm1((e.shift - x) / e.mean_excess);
          },
          [x](const Gamma& g) { return GammaCdf(g, x); },
          [x](const Empirical& e) {
            const auto& s = *e.sorted_samples;
            return static_cast<double>(std::upper_bound(s.begin(), s.end(), x) -
                                       s.begin()) /
                   static_cast<double>(s.size());
          },
          [x](const Mixture& m) {
            double sum = 0;
            for (const auto& part : *m.components) {
              sum += part.weight * part.distribution.Cdf(x);
            }
            return std::min(sum, 1.0);
          }},
      kind_);
}

double Distribution::Quantile(double p) const {
  PRISM_CHECK(p > 0 && p < 1);
  return std::visit(
      Overloaded{
          [](const Constant& c) { return c.value; },
          [p](const Normal& n) {
            return std::max(0.0, n.mean + n.sd * NormalQuantile(p));
          },
          [p](const Lognormal& l) {
            return std::exp(LogMean(l) +
                            std::sqrt(LogVariance(l)) * NormalQuantile(p));
          },
          [p](const ShiftedExponential& e) {
            return e.shift - e.mean_excess * std::log1p(-p);
          },
          [p](const Gamma& g) {
            if (g.cv == 0) return g.mean;
            return std::exp(LogGammaQuantileAtScore(g, NormalQuantile(p)));
          },
          [p](const Empirical& e) {
            const auto& s = *e.sorted_samples;
            const double position =
                std::ceil(p * static_cast<double>(s.size())) - 1;
            return s[static_cast<size_t>(std::max(0.0, position))];
          },
          [this, p](const Mixture& m) { return MixtureQuantile(*this, m, p); }},
      kind_);
}

}  // namespace prism::stats
