// ScoreShape: a standardised law by its skewness and kurtosis.
#ifndef PRISM_CORE_STEP_COMPOSITION_SCORE_SHAPE_H_
#define PRISM_CORE_STEP_COMPOSITION_SCORE_SHAPE_H_

#include <span>
#include <vector>

namespace prism::step {

// Mean 0, deviation 1. A shifted lognormal follows the skewness; a cubic
// Hermite term adds what kurtosis the lognormal leaves. Where the sum would
// turn back, far out in a tail, the quantile stays what it is: it never falls
// with the score. Kept as a table over the score. Immutable.
class ScoreShape {
 public:
  // Scores of the nodes: -kEnd, -kEnd + kStep, ..., kEnd.
  static constexpr double kEnd = 8;
  static constexpr double kStep = 1.0 / 16;
  static constexpr int kNodes = 2 * 8 * 16 + 1;
  static double NodeScore(int node) { return node * kStep - kEnd; }

  // The standard normal.
  ScoreShape();

  // Kurtosis that the lognormal does not explain counts between these.
  static constexpr double kLeastKurtosis = -0.25;
  static constexpr double kMostKurtosis = 2;

  // `kurtosis` is the excess over a normal's 3. Skewness and kurtosis of the
  // shape are these, within 2% and 0.01.
  ScoreShape(double skew, double kurtosis);

  // Excess kurtosis of the lognormal with this skewness.
  static double LognormalKurtosis(double skew);

  // This shape moved by offset[node], and kept from falling.
  // Requires: kNodes offsets.
  ScoreShape MovedBy(std::span<const double> offset) const;

  // Quantile at score z: linear between nodes, constant beyond the ends.
  double At(double z) const;

  // Smallest score at which At is not below y: the inverse of At.
  double Inverse(double y) const;

 private:
  explicit ScoreShape(std::vector<double> value);

  std::vector<double> value_;  // by node, never falling
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SCORE_SHAPE_H_
