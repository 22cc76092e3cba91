// Vector kernels of the structured method: rows of single-precision
// deviations from a nominal schedule.
//
// Times are kept as differences from the nominal time of the same event, so
// single precision loses nothing that matters: a deviation is accurate to
// 1e-7 of the step's spread, not of its length. Row lengths are multiples of
// kPipelineRow. Dispatched at run time; thread-safe: no state.
#ifndef PRISM_CORE_STEP_COMPOSITION_PIPELINE_KERNELS_H_
#define PRISM_CORE_STEP_COMPOSITION_PIPELINE_KERNELS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace prism::step {

// Every row has a multiple of this many floats.
inline constexpr size_t kPipelineRow = 16;

// Independent rows that one call of ScoreRows draws.
inline constexpr int kScoreRows = 4;

// Standard normal scores of draws 4 * group ... 4 * group + 3: element i is
// keyed by (key, group, salt, samples[i]). Philox4x32-7, the fewest rounds
// that pass BigCrush (Salmon et al., SC'11). A score comes from the sum of
// four random bytes, one of 1,021 values up to 5.3: its first eight moments
// are those of a normal to 1e-4, which is what a sum of hundreds of draws can
// tell, at half the cost of an exact quantile.
//
// Each of the kScoreRows rows has 2n elements: the n samples and, behind them,
// their mirror images with every score negated (antithetic pairs).
void ScoreRows(uint64_t key, uint32_t group, uint32_t salt,
               const uint32_t* samples, size_t n, float* out);

// A draw's deviation from its mean as a polynomial of the normal score,
// highest power first. One of degree kShortTerms - 1 or less is quicker.
inline constexpr size_t kPolynomialTerms = 9;
inline constexpr size_t kShortTerms = 6;
using ScorePolynomial = std::array<float, kPolynomialTerms>;

// Tables hold a draw's deviation on kTableNodes + 1 equidistant scores from
// -kTableEnd to kTableEnd, and are linear between them.
inline constexpr int kTableNodes = 1024;
inline constexpr float kTableEnd = 5.5f;

// out = polynomial(score).
void PolynomialRow(const float* score, size_t n,
                   const ScorePolynomial& polynomial, float* out);
// out = table(score).
void TableRow(const float* score, size_t n, const float* table, float* out);
// out += row.
void AddRow(const float* row, size_t n, float* out);

// out += factor * row.
void AddScaledRow(const float* row, float factor, size_t n, float* out);

// deviation = shift + deviation * spread: what an operation's deviation becomes
// where its compute part is `shift` longer and its spread `spread` times as
// wide.
void ScaleRow(const float* shift, const float* spread, size_t n,
              float* deviation);

// The same where the compute part, of mean `compute_mean`, runs `load` times as
// long on top of that; `network_share` of the variance does not follow.
void ScaleLoadedRow(const float* load, float compute_mean, float network_share,
                    const float* shift, const float* spread, size_t n,
                    float* deviation);

// factor = max(0, 1 + factor): a factor of mean 1 by its deviation.
void FactorRow(size_t n, float* factor);

// clock = max(clock + own, arrival + other) + deviation.
void AdvanceAfter(const float* arrival, float own, float other,
                  const float* deviation, size_t n, float* clock);

// clock = max(clock + own, arrival + other) + polynomial(score).
void AdvancePolynomialAfter(const float* arrival, float own, float other,
                            const float* score,
                            const ScorePolynomial& polynomial, size_t n,
                            float* clock);

// clock += polynomial(score).
void AdvancePolynomial(const float* score, const ScorePolynomial& polynomial,
                       size_t n, float* clock);

// out = row + polynomial(score).
void SumPolynomial(const float* row, const float* score,
                   const ScorePolynomial& polynomial, size_t n, float* out);

// out = a + b.
void SumRow(const float* a, const float* b, size_t n, float* out);

// Power sums of y = (x - origin) * scale by position modulo kPowerLanes:
// sums[p * kPowerLanes + i] += y^(p + 1) for p below kPowers. Requires: n is a
// multiple of kPowerLanes and at most 64 times that, so that single precision
// holds what is summed.
inline constexpr size_t kPowerLanes = 32;
inline constexpr size_t kPowers = 4;
void AddPowers(const float* x, size_t n, float origin, float scale,
               double* sums);

// The same of the products of `term` and the powers.
void AddTermPowers(const float* x, const float* term, size_t n, float origin,
                   float scale, double* sums);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_PIPELINE_KERNELS_H_
