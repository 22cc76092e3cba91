#include "core/step/composition/score_shape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/base/check.h"
#include "core/stats/normal.h"

namespace prism::step {
namespace {

// A lognormal narrower than this is a normal.
constexpr double kSmall = 1e-6;
constexpr double kMostSigma = 2;
// The moments of the sum are not the sum of the moments: steps of the search
// for the parameters whose moments are those asked for.
constexpr int kSearchSteps = 8;
// Scores beyond this have no weight in any moment.
constexpr double kIntegralEnd = 7;

constexpr int kNodes = ScoreShape::kNodes;

// Sigma of the lognormal with skewness (e + 2) sqrt(e - 1), e = exp(sigma^2):
// a cubic in w = sqrt(e - 1), by Newton's method from above its root.
double LogSigma(double skew) {
  double w = std::min(skew / 3, std::cbrt(skew));
  for (int i = 0; i < 6; ++i) {
    w -= (w * (w * w + 3) - skew) / (3 * w * w + 3);
  }
  return std::min(std::sqrt(std::log1p(w * w)), kMostSigma);
}

double KurtosisOfSigma(double sigma) {
  const double e = std::exp(sigma * sigma);
  return e * e * e * e + 2 * e * e * e + 3 * e * e - 6;
}

// Normal densities at the nodes, which sum to 1.
std::array<double, kNodes> MakeWeights() {
  std::array<double, kNodes> weight;
  double sum = 0;
  for (int i = 0; i < kNodes; ++i) {
    const double z = ScoreShape::NodeScore(i);
    weight[i] = std::abs(z) > kIntegralEnd ? 0 : stats::NormalDensity(z);
    sum += weight[i];
  }
  for (double& w : weight) w /= sum;
  return weight;
}

const std::array<double, kNodes>& Weights() {
  static const std::array<double, kNodes> weights = MakeWeights();
  return weights;
}

struct Moments {
  double mean = 0, deviation = 0, skew = 0, kurtosis = 0;
};

Moments MomentsOf(const std::vector<double>& value) {
  const auto& weight = Weights();
  double sum[5] = {};
  for (int i = 0; i < kNodes; ++i) {
    const double x = value[i], square = x * x;
    sum[1] += weight[i] * x;
    sum[2] += weight[i] * square;
    sum[3] += weight[i] * square * x;
    sum[4] += weight[i] * square * square;
  }
  const double m = sum[1];
  const double variance = sum[2] - m * m;
  const double third = sum[3] - 3 * m * sum[2] + 2 * m * m * m;
  const double fourth =
      sum[4] - 4 * m * sum[3] + 6 * m * m * sum[2] - 3 * m * m * m * m;
  const double deviation = std::sqrt(variance);
  return {m, deviation, third / (variance * deviation),
          fourth / (variance * variance) - 3};
}

void KeepFromFalling(std::vector<double>& value) {
  constexpr int kMiddle = kNodes / 2;
  for (int i = kMiddle + 1; i < kNodes; ++i) {
    value[i] = std::max(value[i], value[i - 1]);
  }
  for (int i = kMiddle - 1; i >= 0; --i) {
    value[i] = std::min(value[i], value[i + 1]);
  }
}

// The lognormal of deviation `sigma` of the logarithm, standardised, plus
// `cubic` times the third Hermite polynomial.
void Fill(double sigma, double cubic, std::vector<double>& value) {
  const double e = std::exp(sigma * sigma);
  const double sd = std::sqrt(e * (e - 1));
  const double ratio = std::exp(sigma * ScoreShape::kStep);
  double growing = std::exp(-sigma * ScoreShape::kEnd);
  for (int i = 0; i < kNodes; ++i) {
    const double z = ScoreShape::NodeScore(i);
    value[i] = cubic * (z * z * z - 3 * z) +
               (sigma > kSmall ? (growing - std::sqrt(e)) / sd : z);
    growing *= ratio;
  }
  KeepFromFalling(value);
}

// Skewness is above 0.
std::vector<double> Search(double skew, double kurtosis) {
  std::vector<double> value(kNodes);
  const double wanted_sigma = LogSigma(skew);
  const double own = KurtosisOfSigma(wanted_sigma);
  const double least = ScoreShape::kLeastKurtosis;
  const double most = ScoreShape::kMostKurtosis;
  const double rest = std::clamp(kurtosis - own, least, most);
  double asked = skew, cubic = rest / 24;
  for (int i = 0; i <= kSearchSteps; ++i) {
    const double sigma = LogSigma(asked);
    Fill(sigma, cubic, value);
    const Moments moments = MomentsOf(value);
    if (i == kSearchSteps || rest == 0) {
      for (double& x : value) x = (x - moments.mean) / moments.deviation;
      break;
    }
    const double reached = moments.kurtosis - KurtosisOfSigma(sigma);
    const double slope = std::max(24.0, cubic != 0 ? reached / cubic : 0.0);
    if (moments.skew > 0) {
      asked *= std::clamp(skew / moments.skew, 0.7, 1.4);
    }
    cubic = std::clamp(cubic + (own + rest - moments.kurtosis) / slope,
                       least / 24, most / 24);
  }
  return value;
}

}  // namespace

double ScoreShape::LognormalKurtosis(double skew) {
  return KurtosisOfSigma(LogSigma(std::abs(skew)));
}

ScoreShape::ScoreShape() : value_(kNodes) {
  for (int i = 0; i < kNodes; ++i) value_[i] = NodeScore(i);
}

ScoreShape::ScoreShape(std::vector<double> value) : value_(std::move(value)) {
  KeepFromFalling(value_);
}

ScoreShape::ScoreShape(double skew, double kurtosis)
    : value_(Search(std::abs(skew), kurtosis)) {
  if (skew >= 0) return;
  std::reverse(value_.begin(), value_.end());
  for (double& x : value_) x = -x;
}

ScoreShape ScoreShape::MovedBy(std::span<const double> offset) const {
  PRISM_CHECK(offset.size() == kNodes);
  std::vector<double> value = value_;
  for (int i = 0; i < kNodes; ++i) value[i] += offset[i];
  return ScoreShape(std::move(value));
}

double ScoreShape::At(double z) const {
  const double position =
      std::clamp((z + kEnd) / kStep, 0.0, kNodes - 1.000001);
  const int node = static_cast<int>(position);
  const double part = position - node;
  return value_[node] + part * (value_[node + 1] - value_[node]);
}

double ScoreShape::Inverse(double y) const {
  const auto next = std::lower_bound(value_.begin(), value_.end(), y);
  if (next == value_.begin()) return -kEnd;
  if (next == value_.end()) return kEnd;
  const double rise = *next - *(next - 1);
  const double part = rise > 0 ? (y - *(next - 1)) / rise : 1;
  return NodeScore(static_cast<int>(next - value_.begin()) - 1) + part * kStep;
}

}  // namespace prism::step
