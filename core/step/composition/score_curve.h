// ScoreCurve: a law as values at standard normal scores, fit for vectors.
#ifndef PRISM_CORE_STEP_COMPOSITION_SCORE_CURVE_H_
#define PRISM_CORE_STEP_COMPOSITION_SCORE_CURVE_H_

#include <vector>

#include "core/step/composition/sharded_kernels.h"
#include "core/step/composition/sharded_law.h"

namespace prism::step {

// A polynomial where one follows the law, else a table. Immutable.
class ScoreCurve {
 public:
  // The constant 0.
  ScoreCurve() = default;
  explicit ScoreCurve(const TailLaw& law);

  bool is_constant() const { return constant_; }
  // Whether only a table follows it: worth exact scores.
  bool is_table() const { return !table_.empty(); }
  double mean() const { return mean_; }

  // clock[i] += factor[i] * value(score[i]), n elements.
  void Add(const float* score, const double* factor, size_t n,
           double* clock) const;

  double At(double score) const;

 private:
  bool constant_ = true;
  double mean_ = 0;
  CurvePolynomial polynomial_ = {};
  std::vector<float> table_;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SCORE_CURVE_H_
