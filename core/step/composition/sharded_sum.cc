// Sums of laws: by cumulants or by characteristic functions.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "core/step/composition/sharded_budget.h"
#include "core/step/composition/sharded_kernels.h"
#include "core/step/composition/sharded_law.h"

namespace prism::step {
namespace {

// Points where all terms are smooth, and where some have jumps or far tails.
constexpr size_t kFewPoints = 2048;
constexpr size_t kManyPoints = 8192;
// Excess kurtosis beyond which a term may have either.
constexpr double kSmoothKurtosis = 4;
// In deviations of the sum: half of it is the most that smoothing moves a
// quantile.
constexpr double kVisibleGap = 0.1;

struct Spectrum {
  std::vector<double> re, im;
  explicit Spectrum(size_t points) : re(points, 0.0), im(points, 0.0) {}
  size_t points() const { return re.size(); }
  ComplexRow At(size_t i) { return {&re[i], &im[i]}; }
};

// e^(-i pi k / half) at half + k, for each power of two and k below it. Only
// read.
Spectrum& Roots() {
  static Spectrum roots = [] {
    Spectrum all(kManyPoints);
    for (size_t half = 1; half < kManyPoints; half *= 2) {
      for (size_t k = 0; k < half; ++k) {
        const double angle = -std::numbers::pi * static_cast<double>(k) /
                             static_cast<double>(half);
        all.re[half + k] = std::cos(angle);
        all.im[half + k] = std::sin(angle);
      }
    }
    return all;
  }();
  return roots;
}

// The transform of four numbers, in place and in bit-reversed order, or twice
// two times its inverse.
void TransformFour(double* re, double* im, bool inverse) {
  const double sign = inverse ? -1 : 1;
  if (inverse) {
    std::swap(re[1], re[2]);
    std::swap(im[1], im[2]);
  }
  const double s_re = re[0] + re[2], s_im = im[0] + im[2];
  const double d_re = re[0] - re[2], d_im = im[0] - im[2];
  const double t_re = re[1] + re[3], t_im = im[1] + im[3];
  const double u_re = sign * (im[1] - im[3]), u_im = sign * (re[3] - re[1]);
  re[0] = s_re + t_re;
  im[0] = s_im + t_im;
  const size_t middle = inverse ? 2 : 1;
  re[middle] = s_re - t_re;
  im[middle] = s_im - t_im;
  re[3 - middle] = d_re + u_re;
  im[3 - middle] = d_im + u_im;
  re[3] = d_re - u_re;
  im[3] = d_im - u_im;
}

// In place, to bit-reversed order.
void Transform(Spectrum& s) {
  const size_t points = s.points();
  for (size_t half = points / 2; half >= 4; half /= 2) {
    for (size_t start = 0; start < points; start += 2 * half) {
      SplitHalves(Roots().At(half), half, s.At(start), s.At(start + half));
    }
  }
  for (size_t i = 0; i < points; i += 4) {
    TransformFour(&s.re[i], &s.im[i], false);
  }
}

// From bit-reversed order, times the number of points.
void TransformBack(Spectrum& s) {
  const size_t points = s.points();
  for (size_t i = 0; i < points; i += 4) {
    TransformFour(&s.re[i], &s.im[i], true);
  }
  for (size_t half = 4; half < points; half *= 2) {
    for (size_t start = 0; start < points; start += 2 * half) {
      JoinHalves(Roots().At(half), half, s.At(start), s.At(start + half));
    }
  }
}

// total *= factor^count, by squares; destroys the factor.
void MultiplyPower(Spectrum& factor, double count, Spectrum& total) {
  const size_t points = total.points();
  for (auto left = static_cast<uint64_t>(count); left > 0; left /= 2) {
    if (left % 2 == 1) MultiplyRows(factor.At(0), points, total.At(0));
    if (left > 1) MultiplyRows(factor.At(0), points, factor.At(0));
  }
}

// The grid that the sum lives on: deviations from its mean, modulo its length.
struct Grid {
  double below = 0;  // the lowest deviation is -below
  double step = 1;
  size_t points = kFewPoints;
  size_t Cell(double deviation) const {
    const auto n = static_cast<int64_t>(points);
    const auto cell = static_cast<int64_t>(std::floor(deviation / step + 0.5));
    return static_cast<size_t>(((cell % n) + n) % n);
  }
};

Grid PlaceGrid(std::span<const RepeatedLaw> terms, double deviation,
               double tail) {
  double support = 0, longest = 0;
  for (const auto& [law, count] : terms) {
    support += count * (law->mean() - law->low());
    const double far = law->AtHazard(tail / count) - law->mean();
    longest = std::max(longest, far);
  }
  Grid grid;
  grid.below = std::min(support, 9 * deviation) + deviation;
  const double above = std::max(9 * deviation, longest + 5 * deviation);
  for (const auto& [law, count] : terms) {
    const Cumulants& c = law->cumulants();
    if (std::abs(c[3]) > kSmoothKurtosis * c[1] * c[1]) {
      grid.points = kManyPoints;
    }
  }
  grid.step = (grid.below + above) / static_cast<double>(grid.points);
  return grid;
}

// Probability of each cell for the deviation of `law` from its mean.
Spectrum Masses(const TailLaw& law, const Grid& grid, double above_end) {
  Spectrum masses(grid.points);
  const double mean = law.mean();
  const double low = std::max(law.low() - mean, -above_end);
  const double high = std::min(law.high() - mean, above_end);
  const auto first = static_cast<int64_t>(std::floor(low / grid.step)) - 1;
  const auto last = static_cast<int64_t>(std::ceil(high / grid.step)) + 1;
  double before = 0;
  TailLaw::Cursor cursor(law);
  for (int64_t cell = first; cell <= last; ++cell) {
    const double edge = (static_cast<double>(cell) + 0.5) * grid.step;
    const double below = cell == last ? 1 : cursor.Below(mean + edge);
    masses.re[grid.Cell(static_cast<double>(cell) * grid.step)] +=
        below - before;
    before = below;
  }
  return masses;
}

// Whether probabilities are close in absolute terms and relative to the tails.
bool IsNear(double a, double b) {
  constexpr double kMass = 0.002, kRatio = 0.1;
  return std::abs(a - b) < std::min(kMass, kRatio * std::min(a, b));
}

// Whether the masses of two cells are about the same.
bool IsEven(double a, double b) {
  constexpr double kRatio = 0.7;
  return std::min(a, b) >= kRatio * std::max(a, b);
}

// `draws` is the number of random terms.
TailLaw ReadLaw(const Spectrum& total, const Grid& grid, const Cumulants& c,
                double draws) {
  const size_t points = grid.points;
  std::vector<double> mass(points), x(points);
  const auto first = -static_cast<int64_t>(grid.below / grid.step);
  for (size_t i = 0; i < points; ++i) {
    const double deviation =
        (static_cast<double>(first) + static_cast<double>(i)) * grid.step;
    x[i] = deviation + grid.step / 2;
    mass[i] = std::max(total.re[grid.Cell(deviation)], 0.0);
    if (mass[i] < 1e-13 * static_cast<double>(points)) mass[i] = 0;
  }
  double all = 0, mean = 0, square = 0;
  for (size_t i = 0; i < points; ++i) {
    const double deviation = x[i] - grid.step / 2;
    all += mass[i];
    mean += mass[i] * deviation;
    square += mass[i] * deviation * deviation;
  }
  mean /= all;
  const double variance = square / all - mean * mean;
  // Rounding to the grid adds a twelfth of the square of its step a draw.
  const double rounding = draws * grid.step * grid.step / 12;
  const double stretch =
      variance > 0 ? std::sqrt(std::max(1 - rounding / variance, 0.5)) : 1;
  std::vector<double> above(points);
  double sum = 0;
  for (size_t i = points; i-- > 0;) {
    above[i] = sum / all;
    sum += mass[i];
  }
  std::vector<double> node, log_below, log_above;
  auto add = [&](size_t i, double below) {
    node.push_back(c[0] + (x[i] - mean) * stretch);
    log_below.push_back(std::log(std::min(below, 1.0)));
    log_above.push_back(above[i] > 0 ? std::log(above[i])
                                     : -TailLaw::kMostHazard);
  };
  double below = 0, last_below = 0, last_above = 1, skipped_below = 0;
  double run_mass = 0;  // of the first of the cells that are skipped
  for (size_t i = 0; i < points; ++i) {
    const double before = std::exchange(below, below + mass[i] / all);
    if (below <= 0) continue;
    const bool first_node = node.empty();
    const bool even = skipped_below > 0 ? IsEven(mass[i], run_mass) : true;
    if (skipped_below <= 0) run_mass = mass[i];
    if (!first_node && even && above[i] > 0 && IsNear(last_below, below) &&
        IsNear(last_above, above[i])) {
      skipped_below = below;
      continue;
    }
    // Where this cell is much, its left end counts.
    if (skipped_below > 0) add(i - 1, before);
    skipped_below = 0;
    add(i, below);
    last_below = below;
    last_above = above[i];
    if (above[i] <= 0) break;
  }
  log_below.back() = 0;
  return TailLaw::OfNodes(std::move(node), std::move(log_below),
                          std::move(log_above));
}

TailLaw SumBySpectra(std::span<const RepeatedLaw> terms, const Cumulants& c,
                     double tail, const base::Budget& budget) {
  const Grid grid = PlaceGrid(terms, std::sqrt(c[1]), tail);
  const double end = static_cast<double>(grid.points) * grid.step - grid.below;
  Spectrum total(grid.points);
  std::fill(total.re.begin(), total.re.end(), 1.0);
  double draws = 0;
  for (const auto& [law, count] : terms) {
    if (law->is_constant()) continue;
    draws += count;
    if (IsOver(budget)) return TailLaw();
    Spectrum masses = Masses(*law, grid, end);
    Transform(masses);
    MultiplyPower(masses, count, total);
  }
  TransformBack(total);
  return ReadLaw(total, grid, c, draws);
}

// Whether a term's values lie so far apart that the sum, whatever its
// cumulants, has steps.
bool ShowsGaps(std::span<const RepeatedLaw> terms, double deviation) {
  return std::any_of(terms.begin(), terms.end(), [&](const RepeatedLaw& term) {
    return !term.law->is_constant() &&
           term.law->WidestGap() > kVisibleGap * deviation;
  });
}

}  // namespace

TailLaw SumOf(std::span<const RepeatedLaw> terms, double tail,
              const base::Budget& budget) {
  Cumulants sum = {};
  int random = 0;
  const TailLaw* only = nullptr;
  for (const auto& [law, count] : terms) {
    sum = sum + RepeatedCumulants(law->cumulants(), count);
    if (law->is_constant()) continue;
    random += count > 1 ? 2 : 1;
    only = law;
  }
  if (random == 0) return TailLaw().Affine(1, sum[0]);
  if (random == 1) return only->Affine(1, sum[0] - only->mean());
  if (IsNearNormal(sum) && !ShowsGaps(terms, std::sqrt(sum[1]))) {
    return TailLaw::OfScores(ScoreLaw::FromCumulants(sum), sum);
  }
  return SumBySpectra(terms, sum, tail, budget);
}

}  // namespace prism::step
