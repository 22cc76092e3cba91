// Distribution: the law of one non-negative quantity, a duration or a factor.
//
// Immutable and cheap to copy; safe to share between threads. A distribution
// has no unit: it is that of the quantity it describes. Valid parameters are
// the caller's promise (query checks documents); each factory names them.
#ifndef PRISM_CORE_STATS_DISTRIBUTION_H_
#define PRISM_CORE_STATS_DISTRIBUTION_H_

#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace prism::stats {

class Distribution;

struct Constant {
  double value = 0;  // at least 0
};

// Cut at 0: a negative draw counts as 0. Parameters are those before the cut.
struct Normal {
  double mean = 1;  // above 0
  double sd = 0;    // at least 0
};

// Parameters of the variable itself, not of its logarithm.
struct Lognormal {
  double mean = 1;  // above 0
  double cv = 0;    // at least 0
};

struct ShiftedExponential {
  double shift = 0;        // at least 0
  double mean_excess = 1;  // above 0
};

struct Gamma {
  double mean = 1;  // above 0
  double cv = 0;    // at least 0
};

// Each sample equally likely.
struct Empirical {
  std::shared_ptr<const std::vector<double>> sorted_samples;  // not empty
};

struct MixtureComponent;

struct Mixture {
  // Weights at least 0, normalised to sum 1.
  std::shared_ptr<const std::vector<MixtureComponent>> components;
};

class Distribution {
 public:
  using Kind = std::variant<Constant, Normal, Lognormal, ShiftedExponential,
                            Gamma, Empirical, Mixture>;

  // The constant 0.
  Distribution() = default;

  static Distribution MakeConstant(double value);
  static Distribution MakeNormal(double mean, double sd);
  static Distribution MakeLognormal(double mean, double cv);
  static Distribution MakeShiftedExponential(double shift, double mean_excess);
  static Distribution MakeGamma(double mean, double cv);
  // Requires: samples is not empty. Sorts it.
  static Distribution MakeEmpirical(std::vector<double> samples);
  // Requires: the weights have a positive sum. Normalises them, drops
  // components of weight 0 and flattens nested mixtures.
  static Distribution MakeMixture(std::vector<MixtureComponent> components);

  const Kind& kind() const { return kind_; }

  // The law of `factor` times the variable. Requires: factor >= 0.
  Distribution ScaledBy(double factor) const;

  // Mean of the variable as its parameters state it: the cut of a normal is
  // ignored (docs/step-profile.md, nominal step time).
  double StatedMean() const;

  // True mean and variance, the cut included.
  double Mean() const;
  double Variance() const;

  // True when every draw gives the same value.
  bool IsConstant() const;

  // P(X <= x).
  double Cdf(double x) const;

  // Smallest x with Cdf(x) >= p, for 0 < p < 1.
  double Quantile(double p) const;

 private:
  explicit Distribution(Kind kind) : kind_(std::move(kind)) {}

  Kind kind_;
};

struct MixtureComponent {
  double weight = 1;
  Distribution distribution;
};

}  // namespace prism::stats

#endif  // PRISM_CORE_STATS_DISTRIBUTION_H_
