#include "core/step/composition/lane_effect.h"

#include <algorithm>
#include <cmath>

namespace prism::step {
namespace {

constexpr int kCells = 1024;
constexpr double kFirstScore = -5.5;
constexpr double kLastScore = 7;
constexpr double kScoreStep = 0.25;
// Evenly spaced values where quantiles leave gaps.
constexpr int kValues = 256;
// A step between quantiles that is so many times its neighbours' mean.
constexpr double kGap = 1.5;
// Log probability that stands for nothing.
constexpr double kImpossible = -700;
// Relative laws closer than this are the same.
constexpr double kSame = 1e-9;

// Whether the law jumps between neighbouring quantiles, as one of several modes
// does. What is slower by other factors then jumps elsewhere.
bool HasGap(const std::vector<double>& points) {
  for (size_t i = 2; i + 1 < points.size(); ++i) {
    const double step = points[i] - points[i - 1];
    const double around =
        points[i + 1] - points[i] + points[i - 1] - points[i - 2];
    if (2 * step > kGap * around && step > 0) return true;
  }
  return false;
}

}  // namespace

LaneEffects::LaneEffects(std::span<const OperationLaw> laws, int lanes)
    : lanes_(lanes) {
  double spread = 0, total = 0;
  for (const OperationLaw& operation : laws) {
    Law law{.compute_mean = operation.compute_mean,
            .variance = operation.variance,
            .fixed_variance = operation.network_share * operation.variance,
            .uses = {}};
    for (const LanePart& lane_part : operation.lane_parts) {
      const Cumulants one = lane_part.lane.ComputeCumulants();
      if (one[0] <= 0) continue;
      spread += std::sqrt(one[1]) * lane_part.copies;
      total += one[0] * lane_part.copies;
      law.uses.push_back({FindPart(Tabulate(lane_part, one[0])),
                          one[0] * lane_part.copies,
                          one[0] * one[0] * lane_part.copies});
    }
    laws_.push_back(std::move(law));
  }
  // A normal's extremes over a few lanes spread like a Gumbel law of scale
  // sd / 2.
  if (total > 0) tau_ = spread / total / 2;
}

size_t LaneEffects::FindPart(Part part) {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].points.size() != part.points.size()) continue;
    double off = std::abs(parts_[i].share - part.share);
    for (size_t k = 0; k < part.points.size(); ++k) {
      off = std::max(off, std::abs(parts_[i].points[k] - part.points[k]));
    }
    if (off < kSame) return i;
  }
  part.alike = MaximumOf(part, std::vector<double>(lanes_, 1.0));
  parts_.push_back(std::move(part));
  return parts_.size() - 1;
}

LaneEffects::Part LaneEffects::Tabulate(const LanePart& lane_part,
                                        double mean) {
  const ScoreLaw lane = lane_part.lane.ScaledBy(1 / mean);
  Part part{.share = lane_part.share,
            .low = lane.At(-ScoreLaw::kEnd),
            .cells_per_unit = 0,
            .log_cdf = {},
            .points = {},
            .alike = {}};
  const double high = lane.At(ScoreLaw::kEnd);
  for (double z = kFirstScore; z <= kLastScore; z += kScoreStep) {
    part.points.push_back(lane.At(z));
  }
  if (high <= part.low) return part;
  part.cells_per_unit = kCells / (high - part.low);
  for (int i = 0; i <= kCells; ++i) {
    const double x = part.low + i / part.cells_per_unit;
    part.log_cdf.push_back(lane.LogCdfAt(x));
  }
  if (HasGap(part.points)) {
    const double first = part.points.front(), last = part.points.back();
    part.points.clear();
    for (int i = 0; i <= kValues; ++i) {
      part.points.push_back(first + (last - first) * i / kValues);
    }
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
    const double position = (x - part.low) * part.cells_per_unit;
    if (position <= 0) return kImpossible;
    if (position >= kCells) return 0.0;
    const int cell = static_cast<int>(position);
    return part.log_cdf[cell] +
           (position - cell) * (part.log_cdf[cell + 1] - part.log_cdf[cell]);
  };
  double mean = 0, square = 0, below = 0, previous = part.points[0] * highest;
  const double origin = previous;
  for (const double& point : part.points) {
    const double x = point * highest;
    double sum = 0;
    for (double factor : lane_factors) {
      sum += log_cdf(x / (1 + (factor - 1) * part.share));
      if (sum < kImpossible) break;
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

void LaneEffects::Compute(std::span<const double> lane_factors,
                          std::span<LaneEffect> effects) const {
  const auto [low, high] =
      std::minmax_element(lane_factors.begin(), lane_factors.end());
  if (*low == *high) {
    std::fill(effects.begin(), effects.end(), LaneEffect{*low, *low});
    return;
  }
  std::vector<Moments> change;
  for (const Part& part : parts_) {
    const Moments unlike = MaximumOf(part, lane_factors);
    change.push_back(
        {unlike.mean - part.alike.mean, unlike.variance - part.alike.variance});
  }
  for (size_t i = 0; i < laws_.size(); ++i) {
    const Law& law = laws_[i];
    double mean = law.compute_mean, variance = law.variance;
    for (const Use& use : law.uses) {
      mean += change[use.part].mean * use.mean;
      variance += change[use.part].variance * use.variance;
    }
    effects[i] = {};
    if (law.compute_mean > 0) effects[i].mean = mean / law.compute_mean;
    const double free = law.variance - law.fixed_variance;
    if (free > 0) {
      effects[i].spread =
          std::sqrt(std::max(variance - law.fixed_variance, 0.0) / free);
    }
  }
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
