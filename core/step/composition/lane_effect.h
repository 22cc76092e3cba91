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

// The effects on a list of operation laws. Lane parts that differ by their
// scale alone, as those of forward and backward often do, are looked at once.
// Immutable and thread-safe.
class LaneEffects {
 public:
  LaneEffects(std::span<const OperationLaw> laws, int lanes);

  // By law, by quadrature over the distribution function of the maximum: about
  // 50 points times the number of lanes for each distinct part, 250 for one of
  // several modes.
  // Requires: `lane_factors` has one factor above 0 for each lane.
  void Compute(std::span<const double> lane_factors,
               std::span<LaneEffect> effects) const;

  // A quick first guess of the mean's factor, for all laws: the extreme-value
  // form tau log(mean(exp(factor / tau))), exact where lanes follow a Gumbel
  // law.
  double GuessMean(std::span<const double> lane_factors) const;

 private:
  struct Moments {
    double mean = 0;
    double variance = 0;
  };
  // The law of one lane over its mean: log F on a uniform grid, and where to
  // look at it.
  struct Part {
    double share = 1;
    double low = 0;
    double cells_per_unit = 0;
    std::vector<double> log_cdf;
    // Quantiles at evenly spaced scores; evenly spaced values where the law has
    // gaps.
    std::vector<double> points;
    Moments alike;  // of the maximum over lanes of factor 1
  };
  // What a part makes of a law: its mean and variance in units of the part's.
  struct Use {
    size_t part = 0;
    double mean = 0;
    double variance = 0;
  };
  struct Law {
    double compute_mean = 0;
    double variance = 0;
    double fixed_variance = 0;  // the network's
    std::vector<Use> uses;
  };

  static Part Tabulate(const LanePart& lane_part, double mean);
  size_t FindPart(Part part);
  static Moments MaximumOf(const Part& part,
                           std::span<const double> lane_factors);

  int lanes_;
  double tau_ = 0;  // scale of the lanes' extremes, relative
  std::vector<Part> parts_;
  std::vector<Law> laws_;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_LANE_EFFECT_H_
