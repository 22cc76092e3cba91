// ScoreLaw: a law tabulated over the normal score.
//
// The value at score z is the quantile at probability Phi(z). On this scale a
// normal is a line, light tails are gentle curves, and the maximum over equal
// copies is a shift of the argument, so a coarse table is accurate deep into
// both tails. Immutable; cheap to share.
#ifndef PRISM_CORE_STEP_COMPOSITION_SCORE_LAW_H_
#define PRISM_CORE_STEP_COMPOSITION_SCORE_LAW_H_

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "core/stats/distribution.h"

namespace prism::step {

// Cumulants of a law: mean, variance, third and fourth.
using Cumulants = std::array<double, 4>;

Cumulants operator+(const Cumulants& a, const Cumulants& b);
// Of `factor` times the variable, and of the sum of `count` copies.
Cumulants ScaledCumulants(const Cumulants& c, double factor);
Cumulants RepeatedCumulants(const Cumulants& c, double count);

// `count` copies that are multiplied by `factor`, above 0.
struct WeightedFactor {
  double factor = 1;
  double count = 1;
};

class ScoreLaw {
 public:
  // Scores of the nodes: -kEnd, -kEnd + kStep, ..., kEnd.
  static constexpr double kEnd = 8;
  static constexpr double kStep = 1.0 / 16;
  static constexpr int kNodes = 2 * 8 * 16 + 1;
  static double NodeScore(int node) { return node * kStep - kEnd; }

  // The constant 0.
  ScoreLaw() : value_(kNodes, 0.0) {}

  static ScoreLaw Of(const stats::Distribution& distribution);

  // The law with the given cumulants whose quantile is a cubic in the score
  // (Cornish and Fisher, 1938). Good where skewness is below 0.6 or so.
  static ScoreLaw FromCumulants(const Cumulants& cumulants);

  // Of `factor` times the variable. Requires: factor > 0.
  ScoreLaw ScaledBy(double factor) const;

  // Of the variable plus `offset`.
  ScoreLaw ShiftedBy(double offset) const;

  // Of the maximum over `count` independent copies; `count` may be fractional.
  ScoreLaw MaximumOf(double count) const;

  // The same, where `scores` are those of one among the copies at the nodes'
  // scores (ScoresOfOneAmong): for many laws and one count.
  ScoreLaw MaximumOf(std::span<const double> scores) const;

  // Of the maximum over one copy of the variable for each of `offsets`, plus
  // that. Requires: at least one.
  ScoreLaw MaximumOfShifted(std::span<const double> offsets) const;

  // Of the maximum over one variable of each law. Requires: at least one.
  static ScoreLaw MaximumOfAll(std::span<const ScoreLaw> laws);

  // Of the maximum over all copies, each times its factor.
  ScoreLaw MaximumOf(std::span<const WeightedFactor> copies) const;

  // Where a score lies among the nodes: the same for all laws.
  struct Place {
    int node = 0;
    double part = 0;  // of the way to the next
  };
  static Place PlaceOf(double score) {
    const double position =
        std::clamp((score + kEnd) / kStep, 0.0, kNodes - 1.000001);
    const int node = static_cast<int>(position);
    return {node, position - node};
  }

  // Linear between nodes; constant beyond the ends.
  double At(Place place) const {
    const double low = value_[place.node];
    return low + place.part * (value_[place.node + 1] - low);
  }
  double At(double score) const { return At(PlaceOf(score)); }

  // Score of the smallest value that is not below `x`: the inverse of At.
  double ScoreOf(double x) const;

  // log P(variable <= x); that of score -kEnd below the table, of kEnd above.
  double LogCdfAt(double x) const;

  // By the trapezoid rule in the score, which converges exponentially for
  // smooth laws.
  Cumulants ComputeCumulants() const;

 private:
  // The law with `log_p` of P(variable <= x) on an even grid of x.
  static ScoreLaw ReadBackwards(double first, double last,
                                std::span<const double> log_p);

  explicit ScoreLaw(std::vector<double> value) : value_(std::move(value)) {}

  std::vector<double> value_;  // by node, never falling
};

// The score of a copy at which the maximum over `count` copies has score z:
// Phi^-1(Phi(z)^(1/count)), accurate in both tails.
double ScoreOfOneAmong(double count, double z);

// That of every node of a law.
std::vector<double> ScoresOfOneAmong(double count);

// log Phi(z), accurate for large z of either sign.
double LogNormalCdf(double z);

// The same from a table, linear between the nodes of laws and constant beyond:
// within 0.05% for |z| below 1, 1% below 5.
double TabulatedLogNormalCdf(double z);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SCORE_LAW_H_
