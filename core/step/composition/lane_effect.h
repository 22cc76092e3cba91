// LaneEffect: what lanes of unlike speed make of an operation.
#ifndef PRISM_CORE_STEP_COMPOSITION_LANE_EFFECT_H_
#define PRISM_CORE_STEP_COMPOSITION_LANE_EFFECT_H_

#include <span>
#include <vector>

#include "core/step/composition/operation_law.h"

namespace prism::step {

// Factors on the mean of an operation's compute part and on its spread,
// against lanes of factor 1.
struct LaneEffect {
  double mean = 1;
  double spread = 1;
};

// The effect on one operation law. Immutable and thread-safe.
class LaneEffects {
 public:
  explicit LaneEffects(const OperationLaw& law);

  // By quadrature over the distribution function of the maximum: about 50
  // points times the number of lanes. Requires: factors above 0.
  LaneEffect Of(std::span<const double> lane_factors) const;

  // A quick first guess of Of(...).mean: the extreme-value form
  // tau log(mean(exp(factor / tau))), exact where lanes follow a Gumbel law.
  double GuessMean(std::span<const double> lane_factors) const;

 private:
  struct Moments {
    double mean = 0;
    double variance = 0;
  };
  // log F of one lane on a uniform grid, and where to look at it.
  struct Part {
    double share = 1;
    double copies = 1;
    double low = 0;
    double cells_per_second = 0;
    std::vector<double> log_cdf;
    std::vector<double> points;  // quantiles at evenly spaced scores
  };

  static Part Tabulate(const LanePart& lane_part);
  static Moments MaximumOf(const Part& part,
                           std::span<const double> lane_factors);

  double compute_mean_;
  double variance_;
  double fixed_variance_;  // the network's
  double tau_ = 0;         // scale of the lanes' extremes, relative
  std::vector<Part> parts_;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_LANE_EFFECT_H_
