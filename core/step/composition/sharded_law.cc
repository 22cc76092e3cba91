#include "core/step/composition/sharded_law.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/check.h"
#include "core/stats/normal.h"

namespace prism::step {
namespace {

constexpr double kNever = -TailLaw::kMostHazard;  // log of no probability

double LogOf(double p) {
  return p > 0 ? std::max(std::log(p), kNever) : kNever;
}

const double kLogHalf = std::log(0.5);

// log(1 - e^x) for x < 0.
double LogOfRest(double x) {
  return x > kLogHalf ? LogOf(-std::expm1(x)) : std::log1p(-std::exp(x));
}

}  // namespace

bool IsNearNormal(const Cumulants& c) {
  if (c[1] <= 0) return true;
  const double skew = c[2] / (c[1] * std::sqrt(c[1]));
  const double kurtosis = c[3] / (c[1] * c[1]);
  return std::abs(skew) < 0.3 && std::abs(kurtosis) < 0.3;
}

TailLaw::TailLaw() : TailLaw({0, 0}, {kNever, 0}, {0, kNever}) {}

TailLaw TailLaw::Of(const stats::Distribution& distribution) {
  TailLaw law;
  if (const auto* mixture = std::get_if<stats::Mixture>(&distribution.kind())) {
    std::vector<TailLaw> laws;
    std::vector<double> weights;
    for (const auto& component : *mixture->components) {
      laws.push_back(OfOne(component.distribution));
      weights.push_back(component.weight);
    }
    law = Mix(laws, weights);
  } else {
    law = OfOne(distribution);
  }
  law.TakeCumulantsFromNodes();
  law.cumulants_[0] = distribution.Mean();
  law.cumulants_[1] = distribution.IsConstant() ? 0 : distribution.Variance();
  return law;
}

// Without cumulants.
TailLaw TailLaw::OfOne(const stats::Distribution& distribution) {
  if (distribution.IsConstant()) {
    const double value = distribution.Mean();
    return TailLaw({value, value}, {kNever, 0}, {0, kNever});
  }
  if (const auto* empirical =
          std::get_if<stats::Empirical>(&distribution.kind())) {
    return OfSamples(*empirical->sorted_samples);
  }
  return OfScoreNodes(ScoreLaw::Of(distribution));
}

void TailLaw::AddNode(double x, double log_below, double log_above) {
  x_.push_back(x);
  log_below_.push_back(log_below);
  log_above_.push_back(log_above);
}

TailLaw TailLaw::OfSamples(std::span<const double> sorted) {
  constexpr size_t kMostExact = 4096;
  constexpr size_t kBodyNodes = 2048, kTailNodes = 64;
  const size_t size = sorted.size();
  const auto n = static_cast<double>(size);
  TailLaw law({}, {}, {});
  auto add = [&](size_t i, double below) {
    law.AddNode(sorted[i], LogOf(below / n), LogOf((n - below) / n));
  };
  if (size <= kMostExact) {
    for (size_t i = 0; i < size; ++i) {
      add(i, static_cast<double>(i));
      add(i, static_cast<double>(i + 1));
    }
    return law;
  }
  add(0, 0);
  for (size_t i = 0; i < size;) {
    add(i, static_cast<double>(i) + 0.5);
    const size_t tail = std::min(i, size - 1 - i);
    i += std::max<size_t>(1, std::min(size / kBodyNodes, tail / kTailNodes));
  }
  add(size - 1, n);
  return law;
}

TailLaw TailLaw::OfScoreNodes(const ScoreLaw& law) {
  static const std::vector<double> kLogCdf = [] {
    std::vector<double> log_cdf(ScoreLaw::kNodes);
    for (int i = 0; i < ScoreLaw::kNodes; ++i) {
      log_cdf[i] = LogNormalCdf(ScoreLaw::NodeScore(i));
    }
    return log_cdf;
  }();
  std::vector<double> x(ScoreLaw::kNodes);
  for (int i = 0; i < ScoreLaw::kNodes; ++i) {
    x[i] = law.At(ScoreLaw::NodeScore(i));
  }
  return TailLaw(std::move(x), kLogCdf, {kLogCdf.rbegin(), kLogCdf.rend()});
}

TailLaw TailLaw::OfScores(const ScoreLaw& law, const Cumulants& cumulants) {
  TailLaw result = OfScoreNodes(law);
  result.cumulants_ = cumulants;
  return result;
}

TailLaw TailLaw::OfNodes(std::vector<double> x, std::vector<double> log_below,
                         std::vector<double> log_above) {
  TailLaw law(std::move(x), std::move(log_below), std::move(log_above));
  law.TakeCumulantsFromNodes();
  return law;
}

std::pair<double, double> TailLaw::SidesAt(double x, bool left) const {
  const auto next = left ? std::lower_bound(x_.begin(), x_.end(), x)
                         : std::upper_bound(x_.begin(), x_.end(), x);
  if (next == x_.begin()) return {0, 1};
  if (next == x_.end()) return {1, 0};
  const size_t i = next - x_.begin();
  const double share = (x - x_[i - 1]) / (x_[i] - x_[i - 1]);
  return {std::exp(std::lerp(log_below_[i - 1], log_below_[i], share)),
          std::exp(std::lerp(log_above_[i - 1], log_above_[i], share))};
}

// On the nodes of all laws. Without cumulants.
TailLaw TailLaw::Mix(std::span<const TailLaw> laws,
                     std::span<const double> weights) {
  // Tables end at a probability of 1e-15; that is no jump.
  constexpr double kLeastJump = 1e-13;
  std::vector<double> x;
  for (const TailLaw& law : laws) {
    x.insert(x.end(), law.x_.begin(), law.x_.end());
  }
  std::sort(x.begin(), x.end());
  x.erase(std::unique(x.begin(), x.end()), x.end());
  TailLaw mixture({}, {}, {});
  for (double value : x) {
    double below[2] = {}, above[2] = {};
    for (size_t i = 0; i < laws.size(); ++i) {
      for (int side : {0, 1}) {
        const auto [b, a] = laws[i].SidesAt(value, side == 0);
        below[side] += weights[i] * b;
        above[side] += weights[i] * a;
      }
    }
    if (below[1] - below[0] > kLeastJump || value == x.front()) {
      mixture.AddNode(value, LogOf(below[0]), LogOf(above[0]));
    }
    mixture.AddNode(value, LogOf(below[1]), LogOf(above[1]));
  }
  return mixture;
}

namespace {

// Places nodes where a law has its probability: halves intervals until each
// holds little of it, in absolute terms and relative to the tail beyond.
class NodePlacer {
 public:
  NodePlacer(const std::function<double(double)>& hazard, double low,
             double high)
      : hazard_(hazard), least_width_(1e-6 * (high - low)) {}

  void Place(double from, double to) {
    const Node first = NodeAt(from);
    if (nodes_.empty()) nodes_.push_back(first);
    Split(first, NodeAt(to), 0);
  }

  TailLaw Law() const {
    std::vector<double> x, below, above;
    for (const Node& node : nodes_) {
      x.push_back(node.x);
      below.push_back(std::max(-node.hazard, kNever));
      above.push_back(LogOf(-std::expm1(-node.hazard)));
    }
    // Nothing is below the first node or above the last one.
    x.push_back(x.back());
    below.push_back(0);
    above.push_back(kNever);
    return TailLaw::OfNodes(std::move(x), std::move(below), std::move(above));
  }

 private:
  struct Node {
    double x = 0, hazard = 0, below = 0, above = 0;
  };

  Node NodeAt(double x) const {
    const double h = hazard_(x);
    return {x, h, std::exp(-h), -std::expm1(-h)};
  }

  bool IsFine(const Node& a, const Node& b) const {
    if (b.x - a.x <= least_width_) return true;
    if (b.below - a.below > 0.02) return false;
    const double upper = a.above, lower = b.below;
    return (upper < 1e-5 || b.above > 0.5 * upper) &&
           (lower < 1e-5 || a.below > 0.5 * lower);
  }

  void Split(const Node& a, const Node& b, int depth) {
    if (depth >= 20 || IsFine(a, b)) {
      nodes_.push_back(b);
      return;
    }
    const Node middle = NodeAt((a.x + b.x) / 2);
    Split(a, middle, depth + 1);
    Split(middle, b, depth + 1);
  }

  const std::function<double(double)>& hazard_;
  const double least_width_;
  std::vector<Node> nodes_;
};

// Smallest x between low and high whose hazard is at most `level`.
template <class HazardFunction>
double Bisect(const HazardFunction& hazard, double level, double low,
              double high, int steps) {
  for (int i = 0; i < steps; ++i) {
    const double middle = (low + high) / 2;
    (hazard(middle) > level ? low : high) = middle;
  }
  return high;
}

}  // namespace

TailLaw TailLaw::OfHazard(const std::function<double(double)>& hazard,
                          double low, double high) {
  constexpr double kFirst = 30, kLast = 1e-7;
  constexpr int kSteps = 16;
  constexpr int kIntervals = 16;
  const double first = Bisect(hazard, kFirst, low, high, kSteps);
  const double median = Bisect(hazard, 0.7, first, high, kSteps);
  const double last = Bisect(hazard, kLast, median, high, kSteps);
  const double margin = 1e-9 * std::max(std::abs(last), 1e-300);
  NodePlacer placer(hazard, first, last);
  const double start = std::max(low, first - margin);
  for (int i = 0; i < kIntervals; ++i) {
    placer.Place(start + (median - start) * i / kIntervals,
                 start + (median - start) * (i + 1) / kIntervals);
  }
  for (int i = 0; i < kIntervals && last > median; ++i) {
    placer.Place(median + (last - median) * i / kIntervals,
                 median + (last - median) * (i + 1) / kIntervals);
  }
  return placer.Law();
}

TailLaw TailLaw::Affine(double factor, double offset) const {
  PRISM_CHECK(factor > 0);
  TailLaw law = *this;
  for (double& x : law.x_) x = x * factor + offset;
  law.cumulants_ = ScaledCumulants(cumulants_, factor);
  law.cumulants_[0] += offset;
  return law;
}

TailLaw TailLaw::MaximumOf(double count) const {
  if (count == 1 || is_constant()) return *this;
  // Nodes are added where one cell would hold more than this.
  constexpr double kCellMass = 0.01;
  TailLaw law({}, {}, {});
  double before = 0;  // P(X <= x) at the last node
  for (size_t i = 0; i < x_.size(); ++i) {
    if (count * log_below_[i] < kNever && i + 1 < x_.size() &&
        count * log_below_[i + 1] < kNever) {
      continue;
    }
    const double mass = std::exp(count * log_below_[i]) - before;
    const bool jumps = law.x_.empty() || x_[i] == x_[i - 1];
    const int parts = jumps ? 1 : 1 + static_cast<int>(mass / kCellMass);
    for (int part = 1; part <= parts; ++part) {
      const double share = static_cast<double>(part) / parts;
      const size_t left = i == 0 ? 0 : i - 1;
      const double log_below =
          count * std::lerp(log_below_[left], log_below_[i], share);
      const double log_above =
          std::lerp(log_above_[left], log_above_[i], share);
      const double log_all_below =
          log_above < kLogHalf ? count * LogOfRest(log_above) : log_below;
      law.AddNode(
          std::lerp(x_[left], x_[i], share), std::max(log_below, kNever),
          log_above <= kNever ? kNever
                              : std::max(LogOfRest(log_all_below), kNever));
    }
    before = std::exp(law.log_below_.back());
  }
  law.TakeCumulantsFromNodes();
  return law;
}

double TailLaw::HazardBefore(size_t next, double x) const {
  if (next == 0) return kMostHazard;
  if (next == x_.size()) return 0;
  const double share = (x - x_[next - 1]) / (x_[next] - x_[next - 1]);
  const double log_above =
      log_above_[next - 1] + share * (log_above_[next] - log_above_[next - 1]);
  if (log_above < kLogHalf) return -std::log1p(-std::exp(log_above));
  return -(log_below_[next - 1] +
           share * (log_below_[next] - log_below_[next - 1]));
}

double TailLaw::BelowBefore(size_t next, double x) const {
  if (next == 0) return 0;
  if (next == x_.size()) return 1;
  const double share = (x - x_[next - 1]) / (x_[next] - x_[next - 1]);
  const double log_above =
      log_above_[next - 1] + share * (log_above_[next] - log_above_[next - 1]);
  if (log_above < kLogHalf) return 1 - std::exp(log_above);
  return std::exp(log_below_[next - 1] +
                  share * (log_below_[next] - log_below_[next - 1]));
}

void TailLaw::Cursor::MoveTo(double x) {
  while (next_ < law_.x_.size() && law_.x_[next_] <= x) ++next_;
}

double TailLaw::Cursor::Hazard(double x) {
  MoveTo(x);
  return law_.HazardBefore(next_, x);
}

double TailLaw::Cursor::Below(double x) {
  MoveTo(x);
  return law_.BelowBefore(next_, x);
}

double TailLaw::Hazard(double x) const {
  return HazardBefore(std::upper_bound(x_.begin(), x_.end(), x) - x_.begin(),
                      x);
}

double TailLaw::Below(double x) const { return std::exp(-Hazard(x)); }

double TailLaw::Above(double x) const { return -std::expm1(-Hazard(x)); }

double TailLaw::WidestGap() const {
  constexpr int kCells = 400, kEnd = 8;
  static const ScoreTargets kTargets = [] {
    std::vector<double> scores;
    for (int i = kEnd; i <= kCells - kEnd; ++i) {
      scores.push_back(stats::NormalQuantile(static_cast<double>(i) / kCells));
    }
    return ScoreTargets(scores);
  }();
  const std::vector<double> x = AtScores(kTargets);
  double widest = 0;
  for (size_t i = 2; i < x.size(); ++i) {
    widest = std::max(widest, x[i] - x[i - 2]);
  }
  return widest;
}

double TailLaw::Crossing(double log_below, double log_above,
                         size_t& from) const {
  const bool upper = log_above < kLogHalf;
  const auto& value = upper ? log_above_ : log_below_;
  const double target = upper ? log_above : log_below;
  while (from + 1 < x_.size() &&
         (upper ? value[from] > target : value[from] < target)) {
    ++from;
  }
  if (from == 0 || x_[from] == x_[from - 1]) return x_[from];
  const double rise = value[from] - value[from - 1];
  const double share = rise != 0 ? (target - value[from - 1]) / rise : 1;
  return x_[from - 1] + std::clamp(share, 0.0, 1.0) * (x_[from] - x_[from - 1]);
}

double TailLaw::AtHazard(double hazard) const {
  size_t from = 0;
  return Crossing(-hazard, LogOf(-std::expm1(-hazard)), from);
}

ScoreTargets::ScoreTargets(std::span<const double> scores) {
  for (double score : scores) {
    log_below.push_back(LogNormalCdf(score));
    log_above.push_back(LogNormalCdf(-score));
  }
}

std::vector<double> TailLaw::AtScores(const ScoreTargets& targets) const {
  std::vector<double> values(targets.log_below.size());
  size_t from = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = Crossing(targets.log_below[i], targets.log_above[i], from);
  }
  return values;
}

// Probability evenly spread between nodes.
void TailLaw::TakeCumulantsFromNodes() {
  const double origin = x_[x_.size() / 2];
  double moment[5] = {};
  double left = 0, left_above = 1;
  for (size_t i = 0; i < x_.size(); ++i) {
    const double below = std::exp(log_below_[i]);
    const double above = std::exp(log_above_[i]);
    const double mass = left > 0.5 ? left_above - above : below - left;
    left = below;
    left_above = above;
    if (mass <= 0) continue;
    const double a = x_[i == 0 ? 0 : i - 1] - origin;
    const double b = x_[i] - origin;
    moment[0] += mass;
    moment[1] += mass * (a + b) / 2;
    moment[2] += mass * (a * a + a * b + b * b) / 3;
    moment[3] += mass * (a + b) * (a * a + b * b) / 4;
    moment[4] += mass *
                 (a * a * a * a + a * a * a * b + a * a * b * b +
                  a * b * b * b + b * b * b * b) /
                 5;
  }
  for (int k = 1; k < 5; ++k) moment[k] /= moment[0];
  const double mean = moment[1];
  const double second = std::max(moment[2] - mean * mean, 0.0);
  cumulants_ = {origin + mean, second,
                moment[3] - 3 * mean * moment[2] + 2 * mean * mean * mean,
                moment[4] - 4 * mean * moment[3] + 6 * mean * mean * moment[2] -
                    3 * mean * mean * mean * mean - 3 * second * second};
  if (second < 1e-24 * origin * origin) cumulants_[1] = 0;
}

HazardTable::HazardTable(const TailLaw& law) {
  constexpr double kLevels[kHazardRanges + 1] = {40, 3e-2, 1e-4, 1e-9};
  double ends[kHazardRanges + 1];
  for (int i = 0; i <= kHazardRanges; ++i) ends[i] = law.AtHazard(kLevels[i]);
  TailLaw::Cursor cursor(law);
  for (int i = 0; i < kHazardRanges; ++i) {
    Range& range = ranges_[i];
    range.low = ends[i];
    range.high = std::max(ends[i + 1], ends[i]);
    const double width = range.high - range.low;
    range.cells_per_second = width > 0 ? kHazardCells / width : 0;
    for (int cell = 0; cell < kHazardCells; ++cell) {
      hazard_.push_back(static_cast<float>(
          cursor.Hazard(range.low + width * cell / kHazardCells)));
    }
    // Where the range ends at a jump, what is left of it.
    hazard_.push_back(
        static_cast<float>(cursor.Hazard(range.high - 1e-9 * width)));
  }
}

void HazardTable::AddTo(double first, double step, double count, size_t n,
                        float* hazard) const {
  constexpr double kFar = 1e30;  // in cells; well within single precision
  HazardPlaces places{.table = hazard_.data(), .origin = {}, .step = {}};
  for (int i = 0; i < kHazardRanges; ++i) {
    // A range without width is behind all values from its own on.
    const double scale =
        ranges_[i].cells_per_second > 0 ? ranges_[i].cells_per_second : kFar;
    places.origin[i] = static_cast<float>(
        std::clamp((first - ranges_[i].low) * scale, -kFar, kFar));
    places.step[i] = static_cast<float>(std::clamp(step * scale, -kFar, kFar));
  }
  // Nothing is added behind the last range.
  const double reach = (ranges_[kHazardRanges - 1].high - first) / step;
  const size_t nodes =
      reach < static_cast<double>(n)
          ? (static_cast<size_t>(std::max(reach, 0.0)) + 8) / 8 * 8
          : n;
  AddHazards(places, static_cast<float>(count), nodes, hazard);
}

double HazardTable::Inverse(double hazard) const {
  const auto level = static_cast<float>(hazard);
  for (int i = 0; i < kHazardRanges; ++i) {
    const auto first = hazard_.begin() + NodeOf(i, 0);
    const auto last = hazard_.begin() + NodeOf(i, kHazardCells);
    if (*last > level) continue;
    const auto next = std::partition_point(first, last + 1,
                                           [&](float h) { return h > level; });
    return ranges_[i].low + (ranges_[i].high - ranges_[i].low) *
                                static_cast<double>(next - first) /
                                kHazardCells;
  }
  return ranges_[kHazardRanges - 1].high;
}

}  // namespace prism::step
