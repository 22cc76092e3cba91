#include "core/step/composition/score_shape.h"

#include <algorithm>
#include <cmath>

namespace prism::step {
namespace {

// A lognormal narrower than this is a normal.
constexpr double kSmall = 1e-6;

// Sigma of the lognormal with skewness (e + 2) sqrt(e - 1), e = exp(sigma^2).
double LogSigma(double skew) {
  double low = 0, high = 2;
  for (int i = 0; i < 50; ++i) {
    const double sigma = (low + high) / 2;
    const double e = std::exp(sigma * sigma);
    ((e + 2) * std::sqrt(e - 1) < skew ? low : high) = sigma;
  }
  return low;
}

double KurtosisOfSigma(double sigma) {
  const double e = std::exp(sigma * sigma);
  return e * e * e * e + 2 * e * e * e + 3 * e * e - 6;
}

}  // namespace

double ScoreShape::LognormalKurtosis(double skew) {
  return KurtosisOfSigma(LogSigma(std::abs(skew)));
}

ScoreShape::ScoreShape(double skew, double kurtosis)
    : g_(LogSigma(std::abs(skew))), sign_(skew < 0 ? -1 : 1) {
  const double e = std::exp(g_ * g_);
  if (g_ > kSmall) {
    mean_ = (std::sqrt(e) - 1) / g_;
    sd_ = std::sqrt(e * (e - 1)) / g_;
  }
  const double own = KurtosisOfSigma(g_);
  cubic_ = std::clamp(kurtosis - own, kLeastKurtosis, kMostKurtosis) / 24;
}

double ScoreShape::At(double z) const {
  const double s = sign_ * z;
  const double y = g_ > kSmall ? std::expm1(g_ * s) / g_ : s;
  return sign_ * (y - mean_) / sd_ + cubic_ * (z * z * z - 3 * z);
}

double ScoreShape::Inverse(double y) const {
  double z = std::clamp(y, -6.0, 6.0);
  for (int i = 0; i < 30; ++i) {
    const double slope = (g_ > kSmall ? std::exp(sign_ * g_ * z) : 1) / sd_ +
                         cubic_ * (3 * z * z - 3);
    const double step =
        std::clamp((At(z) - y) / std::max(slope, 0.02), -2.0, 2.0);
    z = std::clamp(z - step, -40.0, 40.0);
    if (std::abs(step) < 1e-8) break;
  }
  return z;
}

}  // namespace prism::step
