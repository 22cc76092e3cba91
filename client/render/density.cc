#include "client/render/density.h"

#include <algorithm>
#include <cmath>

namespace prism::render {
namespace {

struct Knots {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> slope;
};

// Of equal quantiles the last counts: the score jumps there.
Knots DistinctKnots(const std::vector<double>& scores,
                    const std::vector<double>& quantiles) {
  Knots knots;
  for (size_t i = 0; i < quantiles.size(); ++i) {
    if (!knots.x.empty() && quantiles[i] <= knots.x.back()) {
      knots.y.back() = scores[i];
    } else {
      knots.x.push_back(quantiles[i]);
      knots.y.push_back(scores[i]);
    }
  }
  return knots;
}

double Secant(const Knots& knots, size_t i) {
  return (knots.y[i + 1] - knots.y[i]) / (knots.x[i + 1] - knots.x[i]);
}

// The harmonic mean of the neighbouring secants, weighted by the intervals,
// keeps the cubic monotone.
void SetSlopes(Knots& knots) {
  const size_t n = knots.x.size();
  knots.slope.assign(n, 0);
  knots.slope[0] = Secant(knots, 0);
  knots.slope[n - 1] = Secant(knots, n - 2);
  for (size_t i = 1; i + 1 < n; ++i) {
    const double before = knots.x[i] - knots.x[i - 1];
    const double after = knots.x[i + 1] - knots.x[i];
    const double w1 = 2 * after + before;
    const double w2 = after + 2 * before;
    knots.slope[i] =
        (w1 + w2) / (w1 / Secant(knots, i - 1) + w2 / Secant(knots, i));
  }
}

// The cubic Hermite interpolant at `x`, inside the knots.
double Score(const Knots& knots, double x) {
  const auto above = std::upper_bound(knots.x.begin(), knots.x.end(), x);
  const size_t last = knots.x.size() - 2;
  const size_t i = std::clamp<size_t>(above - knots.x.begin(), 1, last + 1) - 1;
  const double h = knots.x[i + 1] - knots.x[i];
  const double t = std::clamp((x - knots.x[i]) / h, 0.0, 1.0);
  const double s = 1 - t;
  return knots.y[i] * (1 + 2 * t) * s * s +
         knots.y[i + 1] * (3 - 2 * t) * t * t +
         h * t * s * (knots.slope[i] * s - knots.slope[i + 1] * t);
}

double DistributionFunction(const Knots& knots, double x) {
  return std::erfc(-Score(knots, x) / std::sqrt(2)) / 2;
}

}  // namespace

std::vector<double> RelativeDensity(const std::vector<double>& scores,
                                    const std::vector<double>& quantiles,
                                    int bins) {
  Knots knots = DistinctKnots(scores, quantiles);
  if (knots.x.size() < 2) return {};
  SetSlopes(knots);
  const double low = knots.x.front();
  const double width = (knots.x.back() - low) / bins;
  std::vector<double> density;
  for (int bin = 0; bin < bins; ++bin) {
    density.push_back(DistributionFunction(knots, low + (bin + 1) * width) -
                      DistributionFunction(knots, low + bin * width));
  }
  const double highest = *std::max_element(density.begin(), density.end());
  for (double& value : density) value = std::max(value / highest, 0.0);
  return density;
}

}  // namespace prism::render
