// Sums of laws: by cumulants or by characteristic functions.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "core/step/composition/sharded_budget.h"
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

// Complex numbers in two arrays: the loops vectorise.
struct Spectrum {
  std::vector<double> re, im;
  explicit Spectrum(size_t points) : re(points, 0.0), im(points, 0.0) {}
  size_t points() const { return re.size(); }
};

// In-place transform by Cooley and Tukey, radix 2.
void Transform(Spectrum& s, bool inverse) {
  const size_t points = s.points();
  for (size_t i = 1, j = 0; i < points; ++i) {
    size_t bit = points >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      std::swap(s.re[i], s.re[j]);
      std::swap(s.im[i], s.im[j]);
    }
  }
  std::vector<double> cosine(points / 2), sine(points / 2);
  for (size_t half = 1; half < points; half *= 2) {
    const double angle =
        (inverse ? 1 : -1) * std::numbers::pi / static_cast<double>(half);
    const double step_re = std::cos(angle), step_im = std::sin(angle);
    cosine[0] = 1;
    sine[0] = 0;
    for (size_t k = 1; k < half; ++k) {
      // Fresh every 32 steps, so that no error builds up.
      if (k % 32 == 0) {
        cosine[k] = std::cos(angle * static_cast<double>(k));
        sine[k] = std::sin(angle * static_cast<double>(k));
      } else {
        cosine[k] = cosine[k - 1] * step_re - sine[k - 1] * step_im;
        sine[k] = cosine[k - 1] * step_im + sine[k - 1] * step_re;
      }
    }
    for (size_t start = 0; start < points; start += 2 * half) {
      double* a_re = &s.re[start];
      double* a_im = &s.im[start];
      double* b_re = a_re + half;
      double* b_im = a_im + half;
      for (size_t k = 0; k < half; ++k) {
        const double re = b_re[k] * cosine[k] - b_im[k] * sine[k];
        const double im = b_re[k] * sine[k] + b_im[k] * cosine[k];
        b_re[k] = a_re[k] - re;
        b_im[k] = a_im[k] - im;
        a_re[k] += re;
        a_im[k] += im;
      }
    }
  }
}

// total *= factor^count.
void MultiplyPower(const Spectrum& factor, double count, Spectrum& total) {
  const size_t points = total.points();
  // Real sequences: the second half mirrors the first.
  for (size_t k = 0; k <= points / 2; ++k) {
    double re = factor.re[k], im = factor.im[k];
    if (count != 1) {
      const double norm = std::hypot(re, im);
      const double size = norm > 0 ? std::pow(norm, count) : 0;
      const double angle = std::atan2(im, re) * count;
      re = size * std::cos(angle);
      im = size * std::sin(angle);
    }
    const double t_re = total.re[k], t_im = total.im[k];
    total.re[k] = t_re * re - t_im * im;
    total.im[k] = t_re * im + t_im * re;
    if (k > 0) {
      total.re[points - k] = total.re[k];
      total.im[points - k] = -total.im[k];
    }
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
  for (int64_t cell = first; cell <= last; ++cell) {
    const double edge = (static_cast<double>(cell) + 0.5) * grid.step;
    const double below = cell == last ? 1 : law.Below(mean + edge);
    masses.re[grid.Cell(static_cast<double>(cell) * grid.step)] +=
        below - before;
    before = below;
  }
  return masses;
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
  double below = 0;
  for (size_t i = 0; i < points; ++i) {
    below += mass[i] / all;
    if (below <= 0) continue;
    node.push_back(c[0] + (x[i] - mean) * stretch);
    log_below.push_back(std::log(std::min(below, 1.0)));
    log_above.push_back(above[i] > 0 ? std::log(above[i])
                                     : -TailLaw::kMostHazard);
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
    Transform(masses, false);
    MultiplyPower(masses, count, total);
  }
  Transform(total, true);
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
