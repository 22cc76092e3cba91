#include "core/stats/normal.h"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numbers>

namespace prism::stats {
namespace {

// No promotion to long double, no exceptions: out-of-range arguments give
// infinities that the callers clamp.
using Policy = boost::math::policies::policy<
    boost::math::policies::promote_double<false>,
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::domain_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<
        boost::math::policies::ignore_error>>;

}  // namespace

double NormalCdf(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

double NormalDensity(double z) {
  return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
}

double NormalQuantile(double p) {
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * p, Policy());
}

double LogGammaQuantileAtScore(const Gamma& gamma, double score) {
  const double shape = 1 / (gamma.cv * gamma.cv);
  const double log_scale = std::log(gamma.mean / shape);
  // A narrow gamma is a lognormal with a skew (Wilson and Hilferty's cube) to
  // far below every other error.
  if (shape > 1e6) {
    const double c = 1 / (9 * shape);
    return std::log(gamma.mean) + 3 * std::log1p(score * std::sqrt(c) - c);
  }
  const double tail = NormalCdf(-std::abs(score));
  // P(X <= x) is about (x / scale)^shape / Gamma(shape + 1) near 0, where the
  // quantile itself may underflow.
  if (score < 0) {
    const double log_x = (std::log(tail) + std::lgamma(shape + 1)) / shape;
    if (log_x < -30) return log_x + log_scale;
    return std::log(boost::math::gamma_p_inv(shape, tail, Policy())) +
           log_scale;
  }
  const double x = boost::math::gamma_q_inv(shape, tail, Policy());
  if (x > 1e-13) return std::log(x) + log_scale;
  return (std::log1p(-tail) + std::lgamma(shape + 1)) / shape + log_scale;
}

}  // namespace prism::stats
