// Correlations of scores by which entries of a meeting depend on each other.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/stats/normal.h"
#include "core/step/composition/sharded_barrier.h"

namespace prism::step {

double CorrelationOfLatest(const TailLaw& one, int copies,
                           double mean_of_latest) {
  constexpr int kScores = 49;
  constexpr double kStep = 0.25, kEnd = 6;
  constexpr double kShared = 0.5;
  constexpr int kBisections = 8;
  std::array<double, kScores> scores;
  for (int i = 0; i < kScores; ++i) scores[i] = i * kStep - kEnd;
  const std::vector<double> values = one.AtScores(ScoreTargets(scores));
  // The mean is that of the values, weighted with the density of the largest
  // score; its distribution function conditions on the common score.
  auto mean = [&](double rho) {
    double sum = 0, before = 0;
    for (int i = 0; i < kScores; ++i) {
      double below = 0;
      for (double s = -5; s <= 5; s += kShared) {
        const double cdf = stats::NormalCdf(
            (scores[i] + kStep / 2 - std::sqrt(rho) * s) / std::sqrt(1 - rho));
        below += kShared * stats::NormalDensity(s) * std::pow(cdf, copies);
      }
      sum += values[i] * (below - before);
      before = below;
    }
    return sum / before;
  };
  double low = 0, high = 0.96;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (low + high) / 2;
    (mean(middle) > mean_of_latest ? low : high) = middle;
  }
  return (low + high) / 2;
}

// Hoeffding's formula on the scale of scores: the integral of the joint
// distribution function less the product of its margins. The joint one is a
// power of that of one pair, by conditioning on what the pair shares.
double CorrelationOfMaxima(double count, double rho) {
  if (count <= 1 || rho <= 0) return std::max(rho, 0.0);
  if (rho > 0.98) return rho;
  constexpr int kScores = 25;
  constexpr double kScoreStep = 0.35, kScoreEnd = 4.2;
  // The shared part is integrated in steps well below the width of what it is
  // integrated with.
  constexpr int kShared = 64;
  constexpr double kSharedEnd = 6.4;
  const int shared_nodes = rho > 0.85 ? kShared : kShared / 2;
  const double shared_step = 2 * kSharedEnd / shared_nodes;
  std::array<std::array<double, kShared>, kScores> above;
  std::array<double, kScores> margin, one_above;
  const double own = std::sqrt(1 - rho);
  for (int i = 0; i < kScores; ++i) {
    const double z = i * kScoreStep - kScoreEnd;
    const double x = ScoreOfOneAmong(count, z);
    margin[i] = stats::NormalCdf(z);
    one_above[i] = stats::NormalCdf(-x);
    for (int s = 0; s < shared_nodes; ++s) {
      const double shared = (s + 0.5) * shared_step - kSharedEnd;
      above[i][s] = stats::NormalCdf((std::sqrt(rho) * shared - x) / own);
    }
  }
  std::array<double, kShared> weight;
  for (int s = 0; s < shared_nodes; ++s) {
    weight[s] = shared_step *
                stats::NormalDensity((s + 0.5) * shared_step - kSharedEnd);
  }
  double covariance = 0;
  for (int i = 0; i < kScores; ++i) {
    for (int j = 0; j <= i; ++j) {
      double both = 0;
      for (int s = 0; s < shared_nodes; ++s) {
        both += weight[s] * above[i][s] * above[j][s];
      }
      const double either =
          std::min(one_above[i] + one_above[j] - both, 1 - 1e-16);
      const double joint = std::exp(count * std::log1p(-either));
      covariance += (joint - margin[i] * margin[j]) * (i == j ? 1.0 : 2.0);
    }
  }
  return std::clamp(covariance * kScoreStep * kScoreStep, 0.0, rho);
}

}  // namespace prism::step
