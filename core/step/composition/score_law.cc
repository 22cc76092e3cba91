#include "core/step/composition/score_law.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/check.h"
#include "core/stats/normal.h"

namespace prism::step {
namespace {

// Scores beyond this have no weight in any integral.
constexpr double kIntegralEnd = 7;

// z with log Phi(z) = log_p, for log_p < 0.
double ScoreOfLogProbability(double log_p) {
  if (log_p > -1e-300) return ScoreLaw::kEnd;
  const double upper = -std::expm1(log_p);  // 1 - p without cancellation
  if (upper < 0.5) return -stats::NormalQuantile(std::max(upper, 1e-300));
  return stats::NormalQuantile(std::max(std::exp(log_p), 1e-300));
}

// Cells of a grid of values on which distribution functions are multiplied.
constexpr int kGridCells = 2 * ScoreLaw::kNodes;

// What every law needs at the nodes' scores: log Phi, and the normal density
// scaled to sum 1.
struct NodeTables {
  std::array<double, ScoreLaw::kNodes> log_cdf;
  std::array<double, ScoreLaw::kNodes> weight;
};

NodeTables MakeNodeTables() {
  NodeTables tables;
  double sum = 0;
  for (int i = 0; i < ScoreLaw::kNodes; ++i) {
    const double z = ScoreLaw::NodeScore(i);
    tables.log_cdf[i] = LogNormalCdf(z);
    tables.weight[i] = std::abs(z) > kIntegralEnd ? 0 : stats::NormalDensity(z);
    sum += tables.weight[i];
  }
  for (double& w : tables.weight) w /= sum;
  return tables;
}

const NodeTables& Nodes() {
  static const NodeTables tables = MakeNodeTables();
  return tables;
}

// The logarithm of a gamma's quantile is a gentle curve, and dear: it is
// taken at every fourth node and is a cubic through four of them between.
std::vector<double> GammaValues(const stats::Gamma& gamma) {
  constexpr int kStride = 4;
  constexpr int kCoarse = (ScoreLaw::kNodes - 1) / kStride;
  std::array<double, kCoarse + 1> coarse;
  for (int i = 0; i <= kCoarse; ++i) {
    coarse[i] =
        stats::LogGammaQuantileAtScore(gamma, ScoreLaw::NodeScore(i * kStride));
  }
  std::vector<double> value(ScoreLaw::kNodes);
  for (int i = 0; i < ScoreLaw::kNodes; ++i) {
    const int first = std::clamp(i / kStride - 1, 0, kCoarse - 3);
    const double t = static_cast<double>(i) / kStride - first;
    value[i] = std::exp(-coarse[first] * (t - 1) * (t - 2) * (t - 3) / 6 +
                        coarse[first + 1] * t * (t - 2) * (t - 3) / 2 -
                        coarse[first + 2] * t * (t - 1) * (t - 3) / 2 +
                        coarse[first + 3] * t * (t - 1) * (t - 2) / 6);
  }
  return value;
}

// Sums of the shortest k samples, by k.
std::vector<double> SumsUpTo(std::span<const double> samples) {
  std::vector<double> sums = {0};
  for (const double sample : samples) sums.push_back(sums.back() + sample);
  return sums;
}

// The mean sample between `first` and `last` of them, counted from one end in
// fractions; `sums` are those of `samples`.
double MeanBetween(double first, double last, std::span<const double> samples,
                   std::span<const double> sums) {
  const size_t end = samples.size() - 1;
  const size_t low = std::min(end, static_cast<size_t>(first));
  const size_t high = std::min(end, static_cast<size_t>(last));
  if (low == high) return samples[low];
  const auto up_to = [&](double count, size_t whole) {
    return sums[whole] + (count - static_cast<double>(whole)) * samples[whole];
  };
  return (up_to(last, high) - up_to(first, low)) / (last - first);
}

// Each node stands for the scores that are nearer to it than to any other: the
// quantile of measured draws jumps between nodes, and a law that did so at one
// or the other would be off by half a step of the score.
std::vector<double> EmpiricalValues(std::span<const double> sorted) {
  const std::vector<double> reversed(sorted.rbegin(), sorted.rend());
  const std::vector<double> rising = SumsUpTo(sorted);
  const std::vector<double> falling = SumsUpTo(reversed);
  const auto n = static_cast<double>(sorted.size());
  std::vector<double> value(ScoreLaw::kNodes);
  // Counted from the nearer end, so that both tails keep their digits.
  for (int i = 0; i <= ScoreLaw::kNodes / 2; ++i) {
    const double z = ScoreLaw::NodeScore(i);
    const double first = n * stats::NormalCdf(z - ScoreLaw::kStep / 2);
    const double last = n * stats::NormalCdf(z + ScoreLaw::kStep / 2);
    value[i] = MeanBetween(first, last, sorted, rising);
    value[ScoreLaw::kNodes - 1 - i] =
        MeanBetween(first, last, reversed, falling);
  }
  return value;
}

double QuantileAtScore(const stats::Distribution& d, double score) {
  const auto& kind = d.kind();
  if (const auto* normal = std::get_if<stats::Normal>(&kind)) {
    return std::max(0.0, normal->mean + normal->sd * score);
  }
  if (const auto* lognormal = std::get_if<stats::Lognormal>(&kind)) {
    const double variance = std::log1p(lognormal->cv * lognormal->cv);
    return lognormal->mean *
           std::exp(std::sqrt(variance) * score - variance / 2);
  }
  if (const auto* late = std::get_if<stats::ShiftedExponential>(&kind)) {
    return late->shift - late->mean_excess * LogNormalCdf(-score);
  }
  const double p = std::clamp(stats::NormalCdf(score), 1e-300, 1 - 1e-16);
  return d.Quantile(p);
}

}  // namespace

Cumulants operator+(const Cumulants& a, const Cumulants& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]};
}

Cumulants ScaledCumulants(const Cumulants& c, double factor) {
  const double f2 = factor * factor;
  return {c[0] * factor, c[1] * f2, c[2] * f2 * factor, c[3] * f2 * f2};
}

Cumulants RepeatedCumulants(const Cumulants& c, double count) {
  return {c[0] * count, c[1] * count, c[2] * count, c[3] * count};
}

double LogNormalCdf(double z) {
  if (z > 5) return std::log1p(-stats::NormalCdf(-z));
  if (z > -30) return std::log(stats::NormalCdf(z));
  // Mills' ratio.
  return -z * z / 2 - std::log(-z * std::sqrt(2 * std::numbers::pi));
}

std::vector<double> ScoresOfOneAmong(double count) {
  std::vector<double> scores(ScoreLaw::kNodes);
  for (int i = 0; i < ScoreLaw::kNodes; ++i) {
    scores[i] = ScoreOfOneAmong(count, ScoreLaw::NodeScore(i));
  }
  return scores;
}

double ScoreOfOneAmong(double count, double z) {
  if (count == 1) return z;
  return ScoreOfLogProbability(LogNormalCdf(z) / count);
}

ScoreLaw ScoreLaw::Of(const stats::Distribution& distribution) {
  std::vector<double> value(kNodes);
  if (distribution.IsConstant()) {
    std::fill(value.begin(), value.end(), distribution.Mean());
    return ScoreLaw(std::move(value));
  }
  const auto* gamma = std::get_if<stats::Gamma>(&distribution.kind());
  if (gamma != nullptr && gamma->cv > 0) return ScoreLaw(GammaValues(*gamma));
  const auto* empirical = std::get_if<stats::Empirical>(&distribution.kind());
  if (empirical != nullptr) {
    return ScoreLaw(EmpiricalValues(*empirical->sorted_samples));
  }
  for (int i = 0; i < kNodes; ++i) {
    value[i] = QuantileAtScore(distribution, NodeScore(i));
  }
  return ScoreLaw(std::move(value));
}

ScoreLaw ScoreLaw::FromCumulants(const Cumulants& c) {
  std::vector<double> value(kNodes, c[0]);
  if (c[1] <= 0) return ScoreLaw(std::move(value));
  const double sd = std::sqrt(c[1]);
  const double skew = c[2] / (c[1] * sd);
  const double kurtosis = c[3] / (c[1] * c[1]);
  for (int i = 0; i < kNodes; ++i) {
    const double z = NodeScore(i);
    value[i] +=
        sd * (z + skew * (z * z - 1) / 6 + kurtosis * (z * z * z - 3 * z) / 24 -
              skew * skew * (2 * z * z * z - 5 * z) / 36);
  }
  // The cubic can turn back far out on either side; a law cannot.
  constexpr int kMiddle = kNodes / 2;
  for (int i = kMiddle + 1; i < kNodes; ++i) {
    value[i] = std::max(value[i], value[i - 1]);
  }
  for (int i = kMiddle - 1; i >= 0; --i) {
    value[i] = std::min(value[i], value[i + 1]);
  }
  return ScoreLaw(std::move(value));
}

ScoreLaw ScoreLaw::ScaledBy(double factor) const {
  std::vector<double> value = value_;
  for (double& x : value) x *= factor;
  return ScoreLaw(std::move(value));
}

ScoreLaw ScoreLaw::ShiftedBy(double offset) const {
  std::vector<double> value = value_;
  for (double& x : value) x += offset;
  return ScoreLaw(std::move(value));
}

ScoreLaw ScoreLaw::MaximumOf(double count) const {
  if (count == 1) return *this;
  return MaximumOf(ScoresOfOneAmong(count));
}

ScoreLaw ScoreLaw::MaximumOf(std::span<const double> scores) const {
  std::vector<double> value(kNodes);
  for (int i = 0; i < kNodes; ++i) value[i] = At(scores[i]);
  return ScoreLaw(std::move(value));
}

ScoreLaw ScoreLaw::ReadBackwards(double first, double last,
                                 std::span<const double> log_p) {
  const auto& target = Nodes().log_cdf;
  const int cells = static_cast<int>(log_p.size()) - 1;
  std::vector<double> value(kNodes);
  int cell = 0;
  for (int i = 0; i < kNodes; ++i) {
    while (cell < cells - 1 && log_p[cell + 1] < target[i]) ++cell;
    const double rise = log_p[cell + 1] - log_p[cell];
    const double part =
        rise > 0 ? std::clamp((target[i] - log_p[cell]) / rise, 0.0, 1.0) : 0;
    value[i] = first + (last - first) * (cell + part) / cells;
  }
  return ScoreLaw(std::move(value));
}

ScoreLaw ScoreLaw::MaximumOf(std::span<const WeightedFactor> copies) const {
  PRISM_CHECK(!copies.empty());
  double highest = 0;
  for (const auto& copy : copies) highest = std::max(highest, copy.factor);
  const double first = value_.front() * highest;
  const double last = value_.back() * highest;
  std::vector<double> log_p(kGridCells + 1, 0.0);
  for (int i = 0; i <= kGridCells; ++i) {
    const double x = first + (last - first) * i / kGridCells;
    for (const auto& copy : copies) {
      log_p[i] += copy.count * LogCdfAt(x / copy.factor);
    }
  }
  return ReadBackwards(first, last, log_p);
}

ScoreLaw ScoreLaw::MaximumOfAll(std::span<const ScoreLaw> laws) {
  PRISM_CHECK(!laws.empty());
  // No maximum is below what every one of them exceeds.
  double first = -INFINITY, last = -INFINITY;
  for (const ScoreLaw& law : laws) {
    first = std::max(first, law.value_.front());
    last = std::max(last, law.value_.back());
  }
  std::vector<double> log_p(kGridCells + 1, 0.0);
  for (int i = 0; i <= kGridCells; ++i) {
    const double x = first + (last - first) * i / kGridCells;
    for (const ScoreLaw& law : laws) log_p[i] += law.LogCdfAt(x);
  }
  return ReadBackwards(first, last, log_p);
}

ScoreLaw ScoreLaw::MaximumOfShifted(std::span<const double> offsets) const {
  PRISM_CHECK(!offsets.empty());
  const double highest = *std::max_element(offsets.begin(), offsets.end());
  const double first = value_.front() + highest;
  const double last = value_.back() + highest;
  std::vector<double> log_p(kGridCells + 1, 0.0);
  for (int i = 0; i <= kGridCells; ++i) {
    const double x = first + (last - first) * i / kGridCells;
    for (double offset : offsets) log_p[i] += LogCdfAt(x - offset);
  }
  return ReadBackwards(first, last, log_p);
}

double ScoreLaw::ScoreOf(double x) const {
  const auto next = std::lower_bound(value_.begin(), value_.end(), x);
  if (next == value_.begin()) return -kEnd;
  if (next == value_.end()) return kEnd;
  const double step = *next - *(next - 1);
  const double part = step > 0 ? (x - *(next - 1)) / step : 1;
  return NodeScore(static_cast<int>(next - value_.begin()) - 1) + part * kStep;
}

double TabulatedLogNormalCdf(double z) {
  const auto& log_cdf = Nodes().log_cdf;
  const double position = std::clamp((z + ScoreLaw::kEnd) / ScoreLaw::kStep,
                                     0.0, ScoreLaw::kNodes - 1.000001);
  const int node = static_cast<int>(position);
  return log_cdf[node] +
         (position - node) * (log_cdf[node + 1] - log_cdf[node]);
}

double ScoreLaw::LogCdfAt(double x) const {
  const auto& log_cdf = Nodes().log_cdf;
  const auto next = std::lower_bound(value_.begin(), value_.end(), x);
  if (next == value_.begin()) return log_cdf.front();
  if (next == value_.end()) return log_cdf.back();
  const double rise = *next - *(next - 1);
  const double part = rise > 0 ? (x - *(next - 1)) / rise : 1;
  const auto node = next - value_.begin() - 1;
  return log_cdf[node] + part * (log_cdf[node + 1] - log_cdf[node]);
}

Cumulants ScoreLaw::ComputeCumulants() const {
  // Around the median, so that a narrow law loses no digits.
  const double origin = value_[kNodes / 2];
  const auto& weight = Nodes().weight;
  std::array<double, 5> moment = {};
  for (int i = 0; i < kNodes; ++i) {
    const double x = value_[i] - origin;
    double power = weight[i];
    for (double& m : moment) {
      m += power;
      power *= x;
    }
  }
  const double mean = moment[1];
  const double second = moment[2] - mean * mean;
  const double third =
      moment[3] - 3 * mean * moment[2] + 2 * mean * mean * mean;
  const double fourth = moment[4] - 4 * mean * moment[3] +
                        6 * mean * mean * moment[2] -
                        3 * mean * mean * mean * mean;
  return {origin + mean, std::max(second, 0.0), third,
          fourth - 3 * second * second};
}

}  // namespace prism::step
