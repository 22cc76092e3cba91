// ScoreShape: a standardised law by its skewness and kurtosis.
#ifndef PRISM_CORE_STEP_COMPOSITION_SCORE_SHAPE_H_
#define PRISM_CORE_STEP_COMPOSITION_SCORE_SHAPE_H_

namespace prism::step {

// Mean 0, deviation 1. A shifted lognormal follows the skewness; the cubic
// Hermite term adds what kurtosis the lognormal leaves. The quantile rises with
// the score for every skewness and every kurtosis that is kept. Immutable.
class ScoreShape {
 public:
  // The standard normal.
  ScoreShape() = default;

  // Kurtosis that the lognormal does not explain counts between these.
  static constexpr double kLeastKurtosis = -0.25;
  static constexpr double kMostKurtosis = 2;

  // `kurtosis` is the excess over a normal's 3.
  ScoreShape(double skew, double kurtosis);

  // Excess kurtosis of the lognormal with this skewness.
  static double LognormalKurtosis(double skew);

  // Quantile at score z.
  double At(double z) const;

  // Score at which At is y, within +-40.
  double Inverse(double y) const;

 private:
  double g_ = 0;  // deviation of the logarithm
  double sign_ = 1;
  double mean_ = 0;
  double sd_ = 1;
  double cubic_ = 0;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SCORE_SHAPE_H_
