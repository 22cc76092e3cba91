// StepLaw: the distribution of one placement's step, moved to another's.
//
// Placements of one job differ in where their step lies far more than in its
// shape. So one of them is simulated in full and the others' laws are that
// one, moved, with the spread that their own replicas and the doubt about
// their nodes' speeds add.
#ifndef PRISM_CORE_PLACEMENT_STEP_LAW_H_
#define PRISM_CORE_PLACEMENT_STEP_LAW_H_

#include <array>
#include <span>

#include "core/placement/evaluator.h"
#include "core/step/step_time.h"

namespace prism::placement {

class StepLaw final {
 public:
  // `simulated` is the law of the placement whose evaluation is `moments`.
  StepLaw(const step::StepTime& simulated, const StepMoments& moments);

  // Law of a step with these moments, where they are known.
  step::StepTime Moved(const StepMoments& moments) const;

  // Law of a step whose mean is one of `scenario_means`, equally likely each.
  // `moments.mean` is the mean over all, `moments.variance` that in one
  // scenario. Requires: `scenario_means` is not empty.
  step::StepTime Mixed(const StepMoments& moments,
                       std::span<const double> scenario_means) const;

  // Mean of a step with this evaluated mean.
  double MeanOf(double evaluated_mean) const {
    return simulated_.mean_seconds + (evaluated_mean - moments_.mean);
  }

 private:
  // P(step <= seconds) for the law `at`, by its quantiles on normal scores.
  double Cdf(const step::StepTime& at, double seconds) const;

  step::StepTime simulated_;
  StepMoments moments_;
  std::array<double, step::kQuantileLevels.size()> level_scores_;
};

// Quantile of a law given at step::kQuantileLevels: linear in the normal score
// between and beyond them. Requires: 0 < level < 1.
double QuantileOf(const step::StepTime& law, double level);

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_STEP_LAW_H_
