// TailLaw: a law by its hazard, jumps and far tails included.
//
// What waits for thousands of replicas is decided far out in the tail of each,
// and a stall of probability 1e-5 is a jump there. The hazard -log P(X <= x)
// says it all: that of a maximum is the sum of the hazards. The law is a
// mixture of parts tabulated over the value, each accurate in relative terms
// in both tails. Immutable; thread-safe.
#ifndef PRISM_CORE_STEP_COMPOSITION_SHARDED_LAW_H_
#define PRISM_CORE_STEP_COMPOSITION_SHARDED_LAW_H_

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "core/base/budget.h"
#include "core/stats/distribution.h"
#include "core/step/composition/score_law.h"

namespace prism::step {

class TailLaw {
 public:
  // The constant 0.
  TailLaw();

  static TailLaw Of(const stats::Distribution& distribution);

  // The law with the given hazard, a function that never rises: 0 above the
  // law's values, large below them. `low` and `high` bracket the values.
  static TailLaw OfHazard(const std::function<double(double)>& hazard,
                          double low, double high);

  // Of a smooth law, with the given cumulants.
  static TailLaw OfScores(const ScoreLaw& law, const Cumulants& cumulants);

  // Of the law whose distribution function is 1 - above[i] and below[i] at
  // x[i], rising, log-linear between; its cumulants are taken from there.
  static TailLaw OfNodes(std::vector<double> x, std::vector<double> log_below,
                         std::vector<double> log_above);

  // Of factor times the variable plus offset. Requires: factor > 0.
  TailLaw Affine(double factor, double offset) const;

  // Of the maximum over `count` copies.
  TailLaw MaximumOf(double count) const;

  // -log P(X <= x): 0 above all values, kMostHazard below them.
  double Hazard(double x) const;
  static constexpr double kMostHazard = 700;

  // P(X <= x) and P(X > x).
  double Below(double x) const;
  double Above(double x) const;

  // Smallest x, to 1e-12 of the range, whose hazard is at most `hazard`.
  double AtHazard(double hazard) const;

  // Values at ascending standard normal scores.
  std::vector<double> AtScores(std::span<const double> scores) const;

  const Cumulants& cumulants() const { return cumulants_; }
  double mean() const { return cumulants_[0]; }
  double variance() const { return cumulants_[1]; }
  bool is_constant() const { return cumulants_[1] <= 0; }
  double low() const;
  double high() const;

  // The widest interval between the 2% and the 98% point that holds no more
  // than one in two hundred of the probability.
  double WidestGap() const;

 private:
  struct Part {
    double weight = 1;
    std::vector<double> x;  // rising; equal neighbours are a jump
    std::vector<double> log_below, log_above;
  };

  static Part ScorePart(const ScoreLaw& law);
  void AddPart(double weight, const stats::Distribution& distribution);
  void TakeCumulantsFromNodes();
  static void Evaluate(const Part& part, double x, double& below,
                       double& above);

  std::vector<Part> parts_;
  Cumulants cumulants_ = {};
};

struct RepeatedLaw {
  const TailLaw* law = nullptr;
  double count = 1;
};

// Of the sum of independent copies. Sums that are close to normal come from
// their cumulants, others from a product of characteristic functions. `tail` is
// the probability up to which the upper tail matters. Where the budget is over
// the result means nothing.
TailLaw SumOf(std::span<const RepeatedLaw> terms, double tail,
              const base::Budget& budget);

// Whether three terms of Cornish and Fisher's series give quantiles between
// the scores -3 and 3 to a few thousandths of the deviation.
bool IsNearNormal(const Cumulants& cumulants);

// Hazards of a law at 10 ns each: linear between 1,500 nodes in three ranges,
// one for the body and two for the tail.
class HazardTable {
 public:
  explicit HazardTable(const TailLaw& law);

  double At(double x) const {
    if (x < ranges_[0].low) return TailLaw::kMostHazard;
    for (const Range& range : ranges_) {
      if (x >= range.high) continue;
      const double position = (x - range.low) * range.cells_per_second;
      const int cell = std::min(static_cast<int>(position), kCells - 1);
      const double low = range.hazard[cell];
      return low + (position - cell) * (range.hazard[cell + 1] - low);
    }
    return 0;
  }

  // Value at which the hazard is the given one, by the table.
  double Inverse(double hazard) const;

 private:
  static constexpr int kRanges = 3;
  static constexpr int kCells = 512;

  struct Range {
    double low = 0, high = 0, cells_per_second = 0;
    std::vector<double> hazard;
  };
  Range ranges_[kRanges];
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SHARDED_LAW_H_
