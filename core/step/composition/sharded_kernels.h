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
inline constexpr int kCurveCells = 2048;
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

// latest = max(latest, clock + factor * seconds).
void TakeLatestAfter(const double* clock, const double* factor,
                     const double* seconds, size_t n, double* latest);

// latest = max(latest, a + b + factor * c).
void TakeLatestSum(const double* a, const double* b, double factor,
                   const double* c, size_t n, double* latest);

// Hazards tabulated on equidistant values in kHazardRanges ranges, one behind
// the other; linear between values.
inline constexpr int kHazardRanges = 3;
inline constexpr int kHazardCells = 512;

// Evenly spaced values, in cells of each range: value i lies at origin + i *
// step of the range. Below the first range a hazard is kEndlessHazard, behind
// the last one 0. Of the others the first counts in which the value is not
// behind the last cell.
struct HazardPlaces {
  const float* table = nullptr;  // [range][kHazardCells + 1]
  std::array<float, kHazardRanges> origin = {}, step = {};
};
inline constexpr float kEndlessHazard = 700;

// hazard[i] += count * hazard of value i; n is a multiple of 8.
void AddHazards(const HazardPlaces& places, float count, size_t n,
                float* hazard);

// row[i] = exp(-row[i]); n is a multiple of 8.
void ExpMinus(size_t n, float* row);

// Complex numbers in two arrays, n of them: n is a multiple of 4.
struct ComplexRow {
  double* re = nullptr;
  double* im = nullptr;
};

// a, b = a + b, (a - b) * root: a step of the fast Fourier transform that
// leaves the result in bit-reversed order (Gentleman and Sande, 1966).
void SplitHalves(ComplexRow root, size_t n, ComplexRow a, ComplexRow b);

// a, b = a + b / root, a - b / root, for roots of size 1: twice the inverse.
void JoinHalves(ComplexRow root, size_t n, ComplexRow a, ComplexRow b);

// a *= b.
void MultiplyRows(ComplexRow b, size_t n, ComplexRow a);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SHARDED_KERNELS_H_
