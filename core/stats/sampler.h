// Sampler: a distribution made ready for drawing rows.
//
// Every draw comes from one uniform through the quantile function, so equal
// uniforms give comparable draws of different distributions (common random
// numbers), and a larger uniform never gives a smaller draw. The exception is
// a mixture, which is monotone within each component.
#ifndef PRISM_CORE_STATS_SAMPLER_H_
#define PRISM_CORE_STATS_SAMPLER_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "core/stats/distribution.h"
#include "core/stats/draw_kernels.h"

namespace prism::stats {

// Immutable and thread-safe; scratch space belongs to the caller.
class Sampler {
 public:
  // Rows that Draw works on. One per thread, reused between calls.
  struct Scratch {
    std::vector<double> score;
    std::vector<std::vector<size_t>> members;
    std::vector<double> uniform;
    std::vector<double> drawn;
  };

  explicit Sampler(const Distribution& distribution);

  bool is_constant() const { return kind_ == Kind::kConstant; }
  // Requires: is_constant().
  double constant() const { return a_; }
  // Distribution::StatedMean() of the distribution.
  double stated_mean() const { return stated_mean_; }

  // out[i] = quantile at uniform[i]. Capacity of both: RowSize(n).
  void Draw(const double* uniform, size_t n, Scratch& scratch,
            double* out) const;

 private:
  enum class Kind {
    kConstant,
    kNormal,
    kLognormal,
    kShiftedExponential,
    kLogTable,
    kEmpirical,
    kMixture
  };

  void DrawMixture(const double* uniform, size_t n, Scratch& scratch,
                   double* out) const;
  void BuildGammaTable(const Distribution& distribution);

  Kind kind_ = Kind::kConstant;
  double a_ = 0;  // constant, mean, mu or shift
  double b_ = 0;  // sd, sigma or mean excess
  double stated_mean_ = 0;
  std::vector<double> coefficients_;
  ScoreTable table_;
  std::shared_ptr<const std::vector<double>> samples_;
  std::vector<double> cumulative_weight_;
  std::vector<Sampler> components_;
};

}  // namespace prism::stats

#endif  // PRISM_CORE_STATS_SAMPLER_H_
