#include "core/stats/dependence.h"

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "core/stats/normal.h"

namespace prism::stats {
namespace {

// Statistics beyond it are as good as certain, and within Boost's reach.
constexpr double kCertain = 1e9;
// Variances below this share of another are rounding.
constexpr double kRounding = 1e-18;

double Mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

double SquaresAbout(std::span<const double> values, double centre) {
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum;
}

bool AllEqual(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(),
                     [&](double value) { return value == values[0]; });
}

double UpperTail(double f, double freedom, double rest_freedom) {
  if (!(f < kCertain)) return 0;
  const boost::math::fisher_f law(freedom, rest_freedom);
  return boost::math::cdf(boost::math::complement(law, f));
}

double TwoSidedNormal(double z) { return 2 * NormalCdf(-std::abs(z)); }

// Normal scores of each column by itself, in the matrix's order.
std::vector<double> ColumnScores(const Rows& matrix) {
  std::vector<double> scores(matrix.values.size());
  std::vector<double> column(matrix.rows);
  for (size_t c = 0; c < matrix.columns; ++c) {
    for (size_t r = 0; r < matrix.rows; ++r) column[r] = matrix.at(r, c);
    const std::vector<double> of_column = NormalScores(column);
    for (size_t r = 0; r < matrix.rows; ++r)
      scores[r * matrix.columns + c] = of_column[r];
  }
  return scores;
}

struct Spread {
  double between = 0;  // rows' means about the mean, times columns
  double within = 0;   // values about their rows' means
};

Spread SpreadOf(const Rows& matrix) {
  Spread spread;
  const double centre = Mean(matrix.values);
  for (size_t r = 0; r < matrix.rows; ++r) {
    const auto row = matrix.values.subspan(r * matrix.columns, matrix.columns);
    const double mean = Mean(row);
    spread.within += SquaresAbout(row, mean);
    spread.between +=
        static_cast<double>(matrix.columns) * (mean - centre) * (mean - centre);
  }
  return spread;
}

}  // namespace

std::vector<double> NormalScores(std::span<const double> values) {
  const size_t n = values.size();
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> scores(n);
  for (size_t first = 0; first < n;) {
    size_t last = first + 1;
    while (last < n && values[order[last]] == values[order[first]]) ++last;
    const double rank = static_cast<double>(first + last) / 2;
    const double score = NormalQuantile(rank / static_cast<double>(n));
    for (; first < last; ++first) scores[order[first]] = score;
  }
  return scores;
}

TestResult RowEffectTest(const Rows& matrix, double row_freedom) {
  const auto columns = static_cast<double>(matrix.columns);
  if (matrix.columns < 2 || row_freedom < 1) return {};
  const std::vector<double> scores = ColumnScores(matrix);
  if (AllEqual(scores)) return {};
  const Spread spread = SpreadOf({scores, matrix.rows, matrix.columns});
  const double rest_freedom = row_freedom * (columns - 1);
  const double rest = spread.within / rest_freedom;
  const double between = spread.between / row_freedom;
  if (rest <= kRounding * between) return {0, 1};
  const double f = between / rest;
  return {UpperTail(f, row_freedom, rest_freedom), (f - 1) / (f - 1 + columns)};
}

TestResult GroupSpreadTest(const Rows& matrix, double row_freedom) {
  if (matrix.columns < 2 || row_freedom < 1 || AllEqual(matrix.values))
    return {1, 1};
  const std::vector<double> scores = NormalScores(matrix.values);
  const Spread spread = SpreadOf({scores, matrix.rows, matrix.columns});
  const double rest_freedom =
      static_cast<double>(matrix.rows * (matrix.columns - 1));
  const double rest = spread.within / rest_freedom;
  const double between = spread.between / row_freedom;
  if (rest <= kRounding * between) return {0, kCertain};
  const double f = std::min(between / rest, kCertain);
  const double upper = UpperTail(f, row_freedom, rest_freedom);
  return {2 * std::min(upper, 1 - upper), f};
}

TestResult CorrelationTest(std::span<const double> x, std::span<const double> y,
                           double freedom) {
  if (x.size() < 2 || freedom <= 3 || AllEqual(x) || AllEqual(y)) return {};
  const std::vector<double> a = NormalScores(x), b = NormalScores(y);
  const double mean_a = Mean(a), mean_b = Mean(b);
  double product = 0;
  for (size_t i = 0; i < a.size(); ++i)
    product += (a[i] - mean_a) * (b[i] - mean_b);
  const double r =
      product / std::sqrt(SquaresAbout(a, mean_a) * SquaresAbout(b, mean_b));
  const double bounded = std::clamp(r, -1 + 1e-12, 1 - 1e-12);
  return {TwoSidedNormal(std::atanh(bounded) * std::sqrt(freedom - 3)), r};
}

TestResult NeighbourTest(const Rows& matrix) {
  // With fewer the rows' own means leave nothing to see.
  if (matrix.columns < 4 || matrix.rows < 1 || AllEqual(matrix.values))
    return {};
  const std::vector<double> scores = NormalScores(matrix.values);
  double product = 0, square = 0;
  for (size_t r = 0; r < matrix.rows; ++r) {
    const auto row =
        std::span(scores).subspan(r * matrix.columns, matrix.columns);
    const double mean = Mean(row);
    square += SquaresAbout(row, mean);
    for (size_t c = 1; c < row.size(); ++c)
      product += (row[c - 1] - mean) * (row[c] - mean);
  }
  const auto columns = static_cast<double>(matrix.columns);
  const double pairs = static_cast<double>(matrix.rows) * (columns - 1);
  if (square <= 0) return {};
  const double r =
      product / pairs / (square / static_cast<double>(matrix.values.size()));
  return {TwoSidedNormal((r + 1 / (columns - 1)) * std::sqrt(pairs)), r};
}

TestResult ZeroMeanTest(std::span<const double> values) {
  if (values.size() < 2) return {};
  const auto n = static_cast<double>(values.size());
  const double mean = Mean(values);
  const double variance = SquaresAbout(values, mean) / (n - 1);
  if (variance <= kRounding * mean * mean) return {mean == 0 ? 1.0 : 0.0, mean};
  const double t = std::abs(mean) / std::sqrt(variance / n);
  if (!(t < kCertain)) return {0, mean};
  const boost::math::students_t law(n - 1);
  return {2 * boost::math::cdf(boost::math::complement(law, t)), mean};
}

double PairsToDecide(double alpha) {
  const double sum = NormalQuantile(1 - alpha / 2) + NormalQuantile(0.8);
  const double z = sum / std::atanh(0.5);
  return z * z + 3;
}

}  // namespace prism::stats
