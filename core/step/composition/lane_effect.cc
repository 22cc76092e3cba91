#include "core/step/composition/lane_effect.h"

#include <algorithm>
#include <cmath>

namespace prism::step {
namespace {

constexpr int kCells = 1024;
constexpr double kFirstScore = -5.5;
constexpr double kLastScore = 7;
constexpr double kScoreStep = 0.25;
// Log probability that stands for nothing.
constexpr double kImpossible = -700;

}  // namespace

LaneEffects::LaneEffects(const OperationLaw& law)
    : compute_mean_(law.compute_mean),
      variance_(law.variance),
      fixed_variance_(law.network_share * law.variance) {
  double spread = 0, mean = 0;
  for (const LanePart& lane_part : law.lane_parts) {
    parts_.push_back(Tabulate(lane_part));
    const Cumulants one = lane_part.lane.ComputeCumulants();
    spread += std::sqrt(one[1]) * lane_part.copies;
    mean += one[0] * lane_part.copies;
  }
  // A normal's extremes over a few lanes spread like a Gumbel law of scale
  // sd / 2.
  if (mean > 0) tau_ = spread / mean / 2;
}

LaneEffects::Part LaneEffects::Tabulate(const LanePart& lane_part) {
  Part part{.share = lane_part.share,
            .copies = lane_part.copies,
            .low = lane_part.lane.At(-ScoreLaw::kEnd),
            .cells_per_second = 0,
            .log_cdf = {},
            .points = {}};
  const double high = lane_part.lane.At(ScoreLaw::kEnd);
  for (double z = kFirstScore; z <= kLastScore; z += kScoreStep) {
    part.points.push_back(lane_part.lane.At(z));
  }
  if (high <= part.low) return part;
  part.cells_per_second = kCells / (high - part.low);
  for (int i = 0; i <= kCells; ++i) {
    const double x = part.low + i / part.cells_per_second;
    part.log_cdf.push_back(
        std::max(LogNormalCdf(lane_part.lane.ScoreOf(x)), kImpossible));
  }
  return part;
}

LaneEffects::Moments LaneEffects::MaximumOf(
    const Part& part, std::span<const double> lane_factors) {
  double highest = 0;
  for (double factor : lane_factors) {
    highest = std::max(highest, 1 + (factor - 1) * part.share);
  }
  if (part.log_cdf.empty()) return {part.points[0] * highest, 0};
  auto log_cdf = [&](double x) {
    const double position = (x - part.low) * part.cells_per_second;
    if (position <= 0) return kImpossible;
    if (position >= kCells) return 0.0;
    const int cell = static_cast<int>(position);
    return part.log_cdf[cell] +
           (position - cell) * (part.log_cdf[cell + 1] - part.log_cdf[cell]);
  };
  double mean = 0, square = 0, below = 0, previous = part.points[0] * highest;
  const double origin = previous;
  for (double point : part.points) {
    const double x = point * highest;
    double sum = 0;
    for (double factor : lane_factors) {
      sum += log_cdf(x / (1 + (factor - 1) * part.share));
    }
    const double p = &point == &part.points.back() ? 1 : std::exp(sum);
    const double a = previous - origin, b = x - origin;
    mean += (p - below) * (a + b) / 2;
    square += (p - below) * (a * a + a * b + b * b) / 3;
    below = p;
    previous = x;
  }
  return {origin + mean, std::max(square - mean * mean, 0.0)};
}

LaneEffect LaneEffects::Of(std::span<const double> lane_factors) const {
  const auto [low, high] =
      std::minmax_element(lane_factors.begin(), lane_factors.end());
  if (*low == *high) return {*low, *low};
  const std::vector<double> ones(lane_factors.size(), 1.0);
  double mean = compute_mean_, variance = variance_;
  for (const Part& part : parts_) {
    const Moments alike = MaximumOf(part, ones);
    const Moments unlike = MaximumOf(part, lane_factors);
    mean += (unlike.mean - alike.mean) * part.copies;
    variance += (unlike.variance - alike.variance) * part.copies;
  }
  LaneEffect effect;
  if (compute_mean_ > 0) effect.mean = mean / compute_mean_;
  const double free = variance_ - fixed_variance_;
  if (free > 0) {
    effect.spread = std::sqrt(std::max(variance - fixed_variance_, 0.0) / free);
  }
  return effect;
}

double LaneEffects::GuessMean(std::span<const double> lane_factors) const {
  const double highest =
      *std::max_element(lane_factors.begin(), lane_factors.end());
  if (tau_ <= 0) return highest;
  double sum = 0;
  for (double factor : lane_factors) {
    sum += std::exp((factor - highest) / tau_);
  }
  return highest +
         tau_ * std::log(sum / static_cast<double>(lane_factors.size()));
}

}  // namespace prism::step
