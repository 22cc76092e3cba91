// Vector kernels of the sharded step: clocks in double precision, advanced by
// curves of single-precision scores.
//
// Row lengths are multiples of kPipelineRow. Dispatched at run time;
// thread-safe: no state.
#ifndef PRISM_CORE_STEP_COMPOSITION_SHARDED_KERNELS_H_
#define PRISM_CORE_STEP_COMPOSITION_SHARDED_KERNELS_H_

#include <array>
#include <cstddef>

namespace prism::step {

// Deviation from a mean as a polynomial of the score, highest power first.
inline constexpr size_t kCurveTerms = 6;
using CurvePolynomial = std::array<float, kCurveTerms>;

// Deviations at equidistant scores from -kCurveEnd to kCurveEnd, linear
// between them: kCurveCells + 1 values.
inline constexpr int kCurveCells = 512;
inline constexpr float kCurveEnd = 5.5f;

// out = sum of weight[j] * row[j].
void MixScores(const std::array<const float*, 4>& row,
               const std::array<float, 4>& weight, size_t n, float* out);

// clock += factor * (mean + polynomial(score)).
void AddPolynomial(const float* score, const double* factor, double mean,
                   const CurvePolynomial& polynomial, size_t n, double* clock);

// clock += factor * (mean + table(score)).
void AddTable(const float* score, const double* factor, double mean,
              const float* table, size_t n, double* clock);

// clock += factor * seconds.
void AddScaledConstant(const double* factor, double seconds, size_t n,
                       double* clock);

// latest = max(latest, clock).
void TakeLatest(const double* clock, size_t n, double* latest);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SHARDED_KERNELS_H_
