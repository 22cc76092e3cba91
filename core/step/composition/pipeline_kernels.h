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
// highest power first.
using ScorePolynomial = std::array<float, 6>;

// A draw's deviation on equidistant scores from -kTableEnd to kTableEnd,
// linear between them.
inline constexpr int kTableNodes = 1024;
inline constexpr float kTableEnd = 5.5f;
using ScoreDeviations = std::array<float, kTableNodes + 1>;

// out = polynomial(score).
void PolynomialRow(const float* score, size_t n,
                   const ScorePolynomial& polynomial, float* out);
// out = table(score).
void TableRow(const float* score, size_t n, const ScoreDeviations& table,
              float* out);
// out += row.
void AddRow(const float* row, size_t n, float* out);

// deviation = (factor - 1) * scaled_mean + deviation * spread: what an
// operation's deviation becomes where its compute part runs `factor` times as
// long and its spread is `spread` times as wide.
void ScaleRow(const float* factor, const float* spread, float scaled_mean,
              size_t n, float* deviation);

// a *= b.
void MultiplyRow(const float* b, size_t n, float* a);

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

// out = a + b.
void SumRow(const float* a, const float* b, size_t n, float* out);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_PIPELINE_KERNELS_H_
