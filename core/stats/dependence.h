// Tests of whether draws have something in common.
//
// All but ZeroMeanTest work on normal scores: values are replaced by the
// normal quantiles of their ranks, so that neither a heavy tail nor a skew
// decides, and the F and z laws hold well for any law of the values (Conover
// and Iman, 1981). Pure functions.
#ifndef PRISM_CORE_STATS_DEPENDENCE_H_
#define PRISM_CORE_STATS_DEPENDENCE_H_

#include <cstddef>
#include <span>
#include <vector>

namespace prism::stats {

struct TestResult {
  // Probability of what was seen, or more, if there is nothing in common. 1
  // where there are too few values, or none that differ, to say anything.
  double p = 1;
  // How strong it is: a correlation or, of GroupSpreadTest, a ratio.
  double strength = 0;
};

// A matrix by rows.
struct Rows {
  std::span<const double> values;  // rows * columns
  size_t rows = 0;
  size_t columns = 0;

  double at(size_t row, size_t column) const {
    return values[row * columns + column];
  }
};

// By value: the normal quantile of (rank - 1/2) / n, equal values sharing the
// mean of their ranks.
std::vector<double> NormalScores(std::span<const double> values);

// Whether the rows have effects that all columns share: two-way analysis of
// variance without repetition. The columns' own means and scales count for
// nothing. `row_freedom`: independent rows, less one. The strength is the
// correlation within a row.
TestResult RowEffectTest(const Rows& matrix, double row_freedom);

// Whether the means of the rows differ by more, or by less, than rows of
// independent values would: one-way, two-sided. The strength is the ratio of
// the variances, 1 where there is nothing.
TestResult GroupSpreadTest(const Rows& matrix, double row_freedom);

// Whether x and y are correlated, two-sided (Fisher's z). Requires: equal
// lengths. `freedom`: independent pairs.
TestResult CorrelationTest(std::span<const double> x, std::span<const double> y,
                           double freedom);

// Whether a value is correlated with the next in its row, two-sided. Rows are
// taken about their own means, which alone makes a correlation of
// -1 / (columns - 1).
TestResult NeighbourTest(const Rows& matrix);

// Whether the mean is other than 0 (Student's t, two-sided). The strength is
// the mean.
TestResult ZeroMeanTest(std::span<const double> values);

// Pairs of values in which a correlation of one half is found with a
// probability of 0.8 at level `alpha`. With fewer, not to find one says
// little.
double PairsToDecide(double alpha);

}  // namespace prism::stats

#endif  // PRISM_CORE_STATS_DEPENDENCE_H_
