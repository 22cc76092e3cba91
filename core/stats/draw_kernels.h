// Vector kernels over rows of draws: the inner loops of every simulation.
//
// A row is an array of doubles whose capacity is a multiple of kRowPad; the
// kernels work on RowSize(n) elements, so they may write the padding. Compiled
// for several instruction sets and dispatched at run time; results repeat to
// the last bit on one instruction set. Thread-safe: no state.
#ifndef PRISM_CORE_STATS_DRAW_KERNELS_H_
#define PRISM_CORE_STATS_DRAW_KERNELS_H_

#include <cstddef>
#include <cstdint>

namespace prism::stats {

inline constexpr size_t kRowPad = 8;

// `n` rounded up to whole vectors.
constexpr size_t RowSize(size_t n) {
  return (n + kRowPad - 1) / kRowPad * kRowPad;
}

// Which draws a row holds: element i of the row is draw (slot, operation,
// replica[i], sample[i]) of the streams of `key`. Each of them is below 2^32.
struct RowStream {
  uint64_t key = 0;
  uint32_t slot = 0;
  uint32_t operation = 0;
  const uint64_t* replica = nullptr;
  const uint64_t* sample = nullptr;
};

// Two independent rows of uniforms in (0, 1), 53 bits each: Philox4x32-10
// (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11).
void UniformRows(const RowStream& stream, size_t n, double* first,
                 double* second);

// Standard normal quantiles of uniforms; absolute error below 2e-8. `out` may
// be `uniform`.
void NormalScores(const double* uniform, size_t n, double* out);

// out = max(0, mean + sd z).
void NormalRow(const double* score, size_t n, double mean, double sd,
               double* out);
// out = exp(mu + sigma z).
void LognormalRow(const double* score, size_t n, double mu, double sigma,
                  double* out);
// out = shift - mean_excess log(1 - u).
void ShiftedExponentialRow(const double* uniform, size_t n, double shift,
                           double mean_excess, double* out);

// A smooth function of the normal score on equidistant nodes: the coefficients
// of a quartic around each node.
struct ScoreTable {
  static constexpr int kCoefficients = 5;
  double first = 0;  // score of the first node
  double nodes_per_unit = 1;
  int64_t nodes = 0;
  const double* coefficients = nullptr;  // [coefficient][node]
};

// out = exp(table(z)); scores outside the table count as its ends.
void LogTableRow(const double* score, size_t n, const ScoreTable& table,
                 double* out);

// clock += draw * factor, element by element.
void AddScaled(const double* draw, const double* factor, size_t n,
               double* clock);
// clock += draw * factor.
void AddScaled(const double* draw, double factor, size_t n, double* clock);
// clock += constant * factor, element by element.
void AddConstant(double constant, const double* factor, size_t n,
                 double* clock);
// out = max(a, b).
void MaxRows(const double* a, const double* b, size_t n, double* out);

// Name of the instruction set in use: part of the model version.
const char* ActiveInstructionSet();

}  // namespace prism::stats

#endif  // PRISM_CORE_STATS_DRAW_KERNELS_H_
