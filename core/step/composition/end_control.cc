#include "core/step/composition/end_control.h"

#include "core/step/composition/pipeline_kernels.h"

namespace prism::step {
namespace {

// Of two terms with variances 2 and 24: less means that they say nothing.
constexpr double kLeastDeterminant = 1e-3;

}  // namespace

EndControl::EndControl(std::span<const float> scores)
    : n_(2 * static_cast<double>(scores.size())) {
  const size_t padded =
      (2 * scores.size() + kPowerLanes - 1) / kPowerLanes * kPowerLanes;
  for (auto& row : row_) row.assign(padded, 0.0f);
  Terms squares = {};
  double product = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    const float square = scores[i] * scores[i];
    const float term[] = {square - 1, square * square - 6 * square + 3};
    for (int t = 0; t < kTerms; ++t) {
      row_[t][2 * i] = row_[t][2 * i + 1] = term[t];
      const double both = 2 * double{term[t]};
      sum_[t] += both;
      batch_[i % kBatches][t] += both;
      squares[t] += both * double{term[t]};
    }
    product += 2 * double{term[0]} * double{term[1]};
  }
  if (scores.empty()) return;
  first_ = (squares[0] - sum_[0] * sum_[0] / n_) / n_;
  second_ = (squares[1] - sum_[1] * sum_[1] / n_) / n_;
  both_ = (product - sum_[0] * sum_[1] / n_) / n_;
  determinant_ = first_ * second_ - both_ * both_;
}

EndControl::Terms EndControl::Regress(double sum, const Terms& products) const {
  if (determinant_ < kLeastDeterminant) return {};
  Terms covariance;
  for (int t = 0; t < kTerms; ++t) {
    covariance[t] = (products[t] - sum_[t] * sum / n_) / n_;
  }
  return {(second_ * covariance[0] - both_ * covariance[1]) / determinant_,
          (first_ * covariance[1] - both_ * covariance[0]) / determinant_};
}

}  // namespace prism::step
