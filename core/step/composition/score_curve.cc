#include "core/step/composition/score_curve.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/stats/normal.h"

namespace prism::step {
namespace {

// Scores at which a polynomial is fitted, and how well it must fit, in
// deviations.
constexpr int kFitScores = 61;
constexpr double kFitStep = 0.15;
constexpr double kFitError = 0.02;

double FitScore(int i) { return (i - kFitScores / 2) * kFitStep; }

// Least squares with the weight of the normal density's square root, on
// Hermite polynomials, which are near enough to orthogonal there that the
// normal equations are well conditioned.
CurvePolynomial Fit(const std::vector<double>& values, double mean) {
  constexpr int kTerms = kCurveTerms;
  double a[kTerms][kTerms + 1] = {};
  for (int i = 0; i < kFitScores; ++i) {
    const double z = FitScore(i);
    const double weight = std::exp(-z * z / 3);
    double basis[kTerms] = {1, z};
    for (int k = 2; k < kTerms; ++k) {
      basis[k] = z * basis[k - 1] - (k - 1) * basis[k - 2];
    }
    for (int row = 0; row < kTerms; ++row) {
      for (int column = 0; column < kTerms; ++column) {
        a[row][column] += weight * basis[row] * basis[column];
      }
      a[row][kTerms] += weight * basis[row] * (values[i] - mean);
    }
  }
  for (int pivot = 0; pivot < kTerms; ++pivot) {
    for (int row = 0; row < kTerms; ++row) {
      if (row == pivot) continue;
      const double ratio = a[row][pivot] / a[pivot][pivot];
      for (int column = pivot; column <= kTerms; ++column) {
        a[row][column] -= ratio * a[pivot][column];
      }
    }
  }
  double h[kTerms] = {};
  for (int i = 1; i < kTerms; ++i) h[i] = a[i][kTerms] / a[i][i];
  // From Hermite polynomials to powers; the constant one is the mean.
  const double power[kTerms] = {-h[2] + 3 * h[4],
                                h[1] - 3 * h[3] + 15 * h[5],
                                h[2] - 6 * h[4],
                                h[3] - 10 * h[5],
                                h[4],
                                h[5]};
  CurvePolynomial polynomial;
  for (int i = 0; i < kTerms; ++i) {
    polynomial[kTerms - 1 - i] = static_cast<float>(power[i]);
  }
  return polynomial;
}

double Evaluate(const CurvePolynomial& polynomial, double z) {
  double sum = 0;
  for (float c : polynomial) sum = sum * z + static_cast<double>(c);
  return sum;
}

// The distance between the quartiles as a normal's deviation, or the deviation
// where that is less: rare far values do not count.
double BodyDeviation(const TailLaw& law) {
  constexpr double kQuartile = 0.6744897501960817;
  static const ScoreTargets kTargets(std::array{-kQuartile, kQuartile});
  const std::vector<double> quartiles = law.AtScores(kTargets);
  return std::min(std::sqrt(law.variance()),
                  (quartiles[1] - quartiles[0]) / (2 * kQuartile));
}

}  // namespace

ScoreCurve::ScoreCurve(const TailLaw& law)
    : constant_(law.is_constant()), mean_(law.mean()) {
  if (constant_) return;
  static const ScoreTargets kFitTargets = [] {
    std::array<double, kFitScores> scores;
    for (int i = 0; i < kFitScores; ++i) scores[i] = FitScore(i);
    return ScoreTargets(scores);
  }();
  std::vector<double> values = law.AtScores(kFitTargets);
  polynomial_ = Fit(values, mean_);
  double worst = 0;
  for (int i = 0; i < kFitScores; ++i) {
    const double z = FitScore(i);
    if (std::abs(z) > 3.6) continue;
    worst =
        std::max(worst, std::abs(values[i] - mean_ - Evaluate(polynomial_, z)));
  }
  if (worst <= kFitError * BodyDeviation(law)) return;
  static const ScoreTargets kTableTargets = [] {
    constexpr double kEnd = static_cast<double>(kCurveEnd);
    std::array<double, kCurveCells + 1> scores;
    for (int i = 0; i <= kCurveCells; ++i) {
      scores[i] = 2 * kEnd * i / kCurveCells - kEnd;
    }
    return ScoreTargets(scores);
  }();
  values = law.AtScores(kTableTargets);
  table_.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    table_[i] = static_cast<float>(values[i] - mean_);
  }
}

void ScoreCurve::Add(const float* score, const double* factor, size_t n,
                     double* clock) const {
  if (constant_) {
    AddScaledConstant(factor, mean_, n, clock);
  } else if (table_.empty()) {
    AddPolynomial(score, factor, mean_, polynomial_, n, clock);
  } else {
    AddTable(score, factor, mean_, table_.data(), n, clock);
  }
}

double ScoreCurve::At(double z) const {
  if (constant_) return mean_;
  if (table_.empty()) return mean_ + Evaluate(polynomial_, z);
  const double end = static_cast<double>(kCurveEnd);
  const double position = std::clamp((z + end) * (kCurveCells / (2 * end)), 0.0,
                                     kCurveCells - 1e-6);
  const int cell = static_cast<int>(position);
  const double low = static_cast<double>(table_[cell]);
  const double high = static_cast<double>(table_[cell + 1]);
  return mean_ + low + (position - cell) * (high - low);
}

}  // namespace prism::step
