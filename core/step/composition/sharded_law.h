// TailLaw: a law by its hazard, jumps and far tails included.
//
// What waits for thousands of replicas is decided far out in the tail of each,
// and a stall of probability 1e-5 is a jump there. The hazard -log P(X <= x)
// says it all: that of a maximum is the sum of the hazards. The law is a table
// over the value, accurate in relative terms in both tails, in which a jump is
// two nodes of one value. Immutable; thread-safe.
#ifndef PRISM_CORE_STEP_COMPOSITION_SHARDED_LAW_H_
#define PRISM_CORE_STEP_COMPOSITION_SHARDED_LAW_H_

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/budget.h"
#include "core/stats/distribution.h"
#include "core/step/composition/score_law.h"
#include "core/step/composition/sharded_kernels.h"

namespace prism::step {

// Ascending standard normal scores and the logarithms of the probabilities
// below and above them: made once, for many laws.
struct ScoreTargets {
  explicit ScoreTargets(std::span<const double> scores);
  std::vector<double> log_below, log_above;
};

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

  // Of n samples, those in ascending order, with no more than some three
  // thousand nodes: of more samples each node stands for at most one in 2,048
  // of them, and for at most one in 64 of those beyond it.
  static TailLaw OfSamples(std::span<const double> sorted);

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

  // Smallest x whose hazard is at most `hazard`.
  double AtHazard(double hazard) const;

  // Values at scores.
  std::vector<double> AtScores(const ScoreTargets& targets) const;

  const Cumulants& cumulants() const { return cumulants_; }
  double mean() const { return cumulants_[0]; }
  double variance() const { return cumulants_[1]; }
  bool is_constant() const { return cumulants_[1] <= 0; }
  double low() const { return x_.front(); }
  double high() const { return x_.back(); }

  // The widest interval between the 2% and the 98% point that holds no more
  // than one in two hundred of the probability.
  double WidestGap() const;

  // Evaluates at rising values, each in constant time on average. Requires:
  // the law outlives it.
  class Cursor {
   public:
    explicit Cursor(const TailLaw& law) : law_(law) {}
    double Hazard(double x);
    double Below(double x);

   private:
    void MoveTo(double x);

    const TailLaw& law_;
    size_t next_ = 0;  // the first node above x
  };

 private:
  TailLaw(std::vector<double> x, std::vector<double> log_below,
          std::vector<double> log_above)
      : x_(std::move(x)),
        log_below_(std::move(log_below)),
        log_above_(std::move(log_above)) {}

  static TailLaw OfOne(const stats::Distribution& distribution);
  static TailLaw OfScoreNodes(const ScoreLaw& law);
  static TailLaw Mix(std::span<const TailLaw> laws,
                     std::span<const double> weights);
  void AddNode(double x, double log_below, double log_above);
  void TakeCumulantsFromNodes();
  // Of x just below node `next`, the first above it.
  double HazardBefore(size_t next, double x) const;
  double BelowBefore(size_t next, double x) const;
  // P(X <= x) and P(X > x), or P(X < x) and P(X >= x) with `left`.
  std::pair<double, double> SidesAt(double x, bool left) const;
  // The value where one of the two is met, searched from node `from` on: that
  // of P(X > x) where it is below a half. Sets `from` to the node behind it.
  double Crossing(double log_below, double log_above, size_t& from) const;

  std::vector<double> x_;  // rising; equal neighbours are a jump
  std::vector<double> log_below_, log_above_;
  Cumulants cumulants_ = {};
};

struct RepeatedLaw {
  const TailLaw* law = nullptr;
  double count = 1;  // a whole number
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

// Hazards of a law at a few nanoseconds each: linear between 1,500 nodes in
// three ranges, one for the body and two for the tail. To 1e-6 in relative
// terms of the nodes.
class HazardTable {
 public:
  explicit HazardTable(const TailLaw& law);

  double At(double x) const {
    if (x < ranges_[0].low) return TailLaw::kMostHazard;
    for (int r = 0; r < kHazardRanges; ++r) {
      const Range& range = ranges_[r];
      if (x >= range.high) continue;
      const double position = (x - range.low) * range.cells_per_second;
      const int cell = std::min(static_cast<int>(position), kHazardCells - 1);
      const float* node = &hazard_[NodeOf(r, cell)];
      const auto low = static_cast<double>(node[0]);
      return low + (position - cell) * (static_cast<double>(node[1]) - low);
    }
    return 0;
  }

  // hazard[i] += count * At(first + i * step), n of them, a multiple of 8.
  void AddTo(double first, double step, double count, size_t n,
             float* hazard) const;

  // Value at which the hazard is the given one, by the table.
  double Inverse(double hazard) const;

 private:
  struct Range {
    double low = 0, high = 0, cells_per_second = 0;
  };

  static size_t NodeOf(int range, int cell) {
    return static_cast<size_t>(range) * (kHazardCells + 1) + cell;
  }

  Range ranges_[kHazardRanges];
  std::vector<float> hazard_;  // [range][kHazardCells + 1]
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SHARDED_LAW_H_
