#include "core/step/composition/score_law.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/check.h"
#include "core/stats/normal.h"

namespace prism::step {
namespace {

// Scores beyond this have no weight in any integral.
constexpr double kIntegralEnd = 7;

// z with log Phi(z) = log_p, for log_p < 0.
double ScoreOfLogProbability(double log_p) {
  if (log_p > -1e-300) return ScoreLaw::kEnd;
  const double upper = -std::expm1(log_p);  // 1 - p without cancellation
  if (upper < 0.5) return -stats::NormalQuantile(std::max(upper, 1e-300));
  return stats::NormalQuantile(std::max(std::exp(log_p), 1e-300));
}

double QuantileAtScore(const stats::Distribution& d, double score) {
  const auto& kind = d.kind();
  if (const auto* normal = std::get_if<stats::Normal>(&kind)) {
    return std::max(0.0, normal->mean + normal->sd * score);
  }
  if (const auto* lognormal = std::get_if<stats::Lognormal>(&kind)) {
    const double variance = std::log1p(lognormal->cv * lognormal->cv);
    return lognormal->mean *
           std::exp(std::sqrt(variance) * score - variance / 2);
  }
  if (const auto* late = std::get_if<stats::ShiftedExponential>(&kind)) {
    return late->shift - late->mean_excess * LogNormalCdf(-score);
  }
  if (const auto* gamma = std::get_if<stats::Gamma>(&kind); gamma != nullptr) {
    if (gamma->cv > 0) {
      return std::exp(stats::LogGammaQuantileAtScore(*gamma, score));
    }
  }
  const double p = std::clamp(stats::NormalCdf(score), 1e-300, 1 - 1e-16);
  return d.Quantile(p);
}

}  // namespace

Cumulants operator+(const Cumulants& a, const Cumulants& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]};
}

Cumulants ScaledCumulants(const Cumulants& c, double factor) {
  const double f2 = factor * factor;
  return {c[0] * factor, c[1] * f2, c[2] * f2 * factor, c[3] * f2 * f2};
}

Cumulants RepeatedCumulants(const Cumulants& c, double count) {
  return {c[0] * count, c[1] * count, c[2] * count, c[3] * count};
}

double LogNormalCdf(double z) {
  if (z > 5) return std::log1p(-stats::NormalCdf(-z));
  if (z > -30) return std::log(stats::NormalCdf(z));
  // Mills' ratio.
  return -z * z / 2 - std::log(-z * std::sqrt(2 * std::numbers::pi));
}

double ScoreOfOneAmong(double count, double z) {
  if (count == 1) return z;
  return ScoreOfLogProbability(LogNormalCdf(z) / count);
}

ScoreLaw ScoreLaw::Of(const stats::Distribution& distribution) {
  std::vector<double> value(kNodes);
  if (distribution.IsConstant()) {
    std::fill(value.begin(), value.end(), distribution.Mean());
    return ScoreLaw(std::move(value));
  }
  for (int i = 0; i < kNodes; ++i) {
    value[i] = QuantileAtScore(distribution, NodeScore(i));
  }
  return ScoreLaw(std::move(value));
}

ScoreLaw ScoreLaw::FromCumulants(const Cumulants& c) {
  std::vector<double> value(kNodes, c[0]);
  if (c[1] <= 0) return ScoreLaw(std::move(value));
  const double sd = std::sqrt(c[1]);
  const double skew = c[2] / (c[1] * sd);
  const double kurtosis = c[3] / (c[1] * c[1]);
  for (int i = 0; i < kNodes; ++i) {
    const double z = NodeScore(i);
    value[i] +=
        sd * (z + skew * (z * z - 1) / 6 + kurtosis * (z * z * z - 3 * z) / 24 -
              skew * skew * (2 * z * z * z - 5 * z) / 36);
  }
  // The cubic can turn back far out on either side; a law cannot.
  constexpr int kMiddle = kNodes / 2;
  for (int i = kMiddle + 1; i < kNodes; ++i) {
    value[i] = std::max(value[i], value[i - 1]);
  }
  for (int i = kMiddle - 1; i >= 0; --i) {
    value[i] = std::min(value[i], value[i + 1]);
  }
  return ScoreLaw(std::move(value));
}

ScoreLaw ScoreLaw::ScaledBy(double factor) const {
  std::vector<double> value = value_;
  for (double& x : value) x *= factor;
  return ScoreLaw(std::move(value));
}

ScoreLaw ScoreLaw::ShiftedBy(double offset) const {
  std::vector<double> value = value_;
  for (double& x : value) x += offset;
  return ScoreLaw(std::move(value));
}

ScoreLaw ScoreLaw::MaximumOf(double count) const {
  if (count == 1) return *this;
  std::vector<double> value(kNodes);
  for (int i = 0; i < kNodes; ++i) {
    value[i] = At(ScoreOfOneAmong(count, NodeScore(i)));
  }
  return ScoreLaw(std::move(value));
}

ScoreLaw ScoreLaw::MaximumOf(std::span<const WeightedFactor> copies) const {
  PRISM_CHECK(!copies.empty());
  double highest = 0;
  for (const auto& copy : copies) highest = std::max(highest, copy.factor);
  // Score of the maximum at a fine grid of values, then read backwards.
  const double first = value_.front() * highest;
  const double last = value_.back() * highest;
  const int cells = 2 * kNodes;
  std::vector<double> score(cells + 1);
  for (int i = 0; i <= cells; ++i) {
    const double x = first + (last - first) * i / cells;
    double log_p = 0;
    for (const auto& copy : copies) {
      log_p += copy.count * LogNormalCdf(ScoreOf(x / copy.factor));
    }
    score[i] = ScoreOfLogProbability(log_p);
  }
  std::vector<double> value(kNodes);
  int cell = 0;
  for (int i = 0; i < kNodes; ++i) {
    const double z = NodeScore(i);
    while (cell < cells - 1 && score[cell + 1] < z) ++cell;
    const double width = score[cell + 1] - score[cell];
    const double part =
        width > 0 ? std::clamp((z - score[cell]) / width, 0.0, 1.0) : 0;
    value[i] = first + (last - first) * (cell + part) / cells;
  }
  return ScoreLaw(std::move(value));
}

double ScoreLaw::At(double score) const {
  const double position =
      std::clamp((score + kEnd) / kStep, 0.0, kNodes - 1.000001);
  const int node = static_cast<int>(position);
  const double part = position - node;
  return value_[node] + part * (value_[node + 1] - value_[node]);
}

double ScoreLaw::ScoreOf(double x) const {
  const auto next = std::lower_bound(value_.begin(), value_.end(), x);
  if (next == value_.begin()) return -kEnd;
  if (next == value_.end()) return kEnd;
  const double step = *next - *(next - 1);
  const double part = step > 0 ? (x - *(next - 1)) / step : 1;
  return NodeScore(static_cast<int>(next - value_.begin()) - 1) + part * kStep;
}

Cumulants ScoreLaw::ComputeCumulants() const {
  // Around the median, so that a narrow law loses no digits.
  const double origin = value_[kNodes / 2];
  double weight_sum = 0;
  std::array<double, 5> moment = {};
  for (int i = 0; i < kNodes; ++i) {
    const double z = NodeScore(i);
    if (std::abs(z) > kIntegralEnd) continue;
    const double weight = stats::NormalDensity(z);
    weight_sum += weight;
    const double x = value_[i] - origin;
    double power = weight;
    for (double& m : moment) {
      m += power;
      power *= x;
    }
  }
  for (double& m : moment) m /= weight_sum;
  const double mean = moment[1];
  const double second = moment[2] - mean * mean;
  const double third =
      moment[3] - 3 * mean * moment[2] + 2 * mean * mean * mean;
  const double fourth = moment[4] - 4 * mean * moment[3] +
                        6 * mean * mean * moment[2] -
                        3 * mean * mean * mean * mean;
  return {origin + mean, std::max(second, 0.0), third,
          fourth - 3 * second * second};
}

}  // namespace prism::step
