// EndControl: what chance did to a control variate of replicas' ends, and how
// that is taken out of the moments of the ends.
//
// Where control and end go together, a sample whose control spreads wider than
// it should has ends that do. The moments of the end are regressed on the
// second and the fourth Hermite polynomial of the control, whose expectations
// are 0; the odd ones are 0 in every pair of mirror images.
#ifndef PRISM_CORE_STEP_COMPOSITION_END_CONTROL_H_
#define PRISM_CORE_STEP_COMPOSITION_END_CONTROL_H_

#include <array>
#include <span>
#include <vector>

namespace prism::step {

// Immutable.
class EndControl {
 public:
  static constexpr int kTerms = 2;
  static constexpr int kBatches = 16;
  using Terms = std::array<double, kTerms>;

  // By batch, E[(c^2 - 1) end] with c the control.
  using Curvature = std::array<double, kBatches>;

  // Standard normal scores, one for each replica and its mirror image.
  explicit EndControl(std::span<const float> scores);

  // A term for each replica and each mirror image, as EndFit takes ends; 0
  // behind the last, up to a multiple of kPowerLanes.
  std::span<const float> term(int number) const { return row_[number]; }

  // Coefficients of the terms in a variable with this sum, and these sums of
  // its products with the terms, over all ends. All 0 where the scores do not
  // tell.
  Terms Regress(double sum, const Terms& products) const;

  // Sums of the terms over batch b: replicas b, b + kBatches, ...
  const Terms& SumOf(int batch) const { return batch_[batch]; }

 private:
  std::array<std::vector<float>, kTerms> row_;
  std::array<Terms, kBatches> batch_ = {};
  double n_ = 0;
  Terms sum_ = {};
  // Covariances of the terms, and their determinant.
  double first_ = 0, both_ = 0, second_ = 0, determinant_ = 0;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_END_CONTROL_H_
