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

double HazardOf(double below, double above) {
  if (above < 0.5) return -std::log1p(-above);
  return -LogOf(below);
}

}  // namespace

bool IsNearNormal(const Cumulants& c) {
  if (c[1] <= 0) return true;
  const double skew = c[2] / (c[1] * std::sqrt(c[1]));
  const double kurtosis = c[3] / (c[1] * c[1]);
  return std::abs(skew) < 0.3 && std::abs(kurtosis) < 0.3;
}

TailLaw::TailLaw() { parts_.push_back({1, {0, 0}, {kNever, 0}, {0, kNever}}); }

TailLaw TailLaw::Of(const stats::Distribution& distribution) {
  TailLaw law;
  law.parts_.clear();
  if (const auto* mixture = std::get_if<stats::Mixture>(&distribution.kind())) {
    for (const auto& component : *mixture->components) {
      law.AddPart(component.weight, component.distribution);
    }
  } else {
    law.AddPart(1, distribution);
  }
  law.TakeCumulantsFromNodes();
  law.cumulants_[0] = distribution.Mean();
  law.cumulants_[1] = distribution.IsConstant() ? 0 : distribution.Variance();
  return law;
}

void TailLaw::AddPart(double weight, const stats::Distribution& distribution) {
  Part part{weight, {}, {}, {}};
  if (distribution.IsConstant()) {
    const double value = distribution.Mean();
    part = {weight, {value, value}, {kNever, 0}, {0, kNever}};
  } else if (const auto* empirical =
                 std::get_if<stats::Empirical>(&distribution.kind())) {
    const auto& samples = *empirical->sorted_samples;
    const double n = static_cast<double>(samples.size());
    for (size_t i = 0; i < samples.size(); ++i) {
      for (size_t below = i; below <= i + 1; ++below) {
        part.x.push_back(samples[i]);
        part.log_below.push_back(LogOf(static_cast<double>(below) / n));
        part.log_above.push_back(LogOf((n - static_cast<double>(below)) / n));
      }
    }
  } else {
    part = ScorePart(ScoreLaw::Of(distribution));
    part.weight = weight;
  }
  parts_.push_back(std::move(part));
}

TailLaw::Part TailLaw::ScorePart(const ScoreLaw& law) {
  static const std::vector<double> kLogCdf = [] {
    std::vector<double> log_cdf(ScoreLaw::kNodes);
    for (int i = 0; i < ScoreLaw::kNodes; ++i) {
      log_cdf[i] = LogNormalCdf(ScoreLaw::NodeScore(i));
    }
    return log_cdf;
  }();
  Part part{1, {}, kLogCdf, {kLogCdf.rbegin(), kLogCdf.rend()}};
  part.x.resize(ScoreLaw::kNodes);
  for (int i = 0; i < ScoreLaw::kNodes; ++i) {
    part.x[i] = law.At(ScoreLaw::NodeScore(i));
  }
  return part;
}

TailLaw TailLaw::OfScores(const ScoreLaw& law, const Cumulants& cumulants) {
  TailLaw result;
  result.parts_ = {ScorePart(law)};
  result.cumulants_ = cumulants;
  return result;
}

TailLaw TailLaw::OfNodes(std::vector<double> x, std::vector<double> log_below,
                         std::vector<double> log_above) {
  TailLaw law;
  law.parts_ = {{1, std::move(x), std::move(log_below), std::move(log_above)}};
  law.TakeCumulantsFromNodes();
  return law;
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
double Crossing(const HazardFunction& hazard, double level, double low,
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
  constexpr int kSteps = 32;
  constexpr int kIntervals = 16;
  const double first = Crossing(hazard, kFirst, low, high, kSteps);
  const double median = Crossing(hazard, 0.7, first, high, kSteps);
  const double last = Crossing(hazard, kLast, median, high, kSteps);
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
  for (Part& part : law.parts_) {
    for (double& x : part.x) x = x * factor + offset;
  }
  law.cumulants_ = ScaledCumulants(cumulants_, factor);
  law.cumulants_[0] += offset;
  return law;
}

TailLaw TailLaw::MaximumOf(double count) const {
  if (count == 1 || is_constant()) return *this;
  return OfHazard([&](double x) { return count * Hazard(x); }, low(), high());
}

void TailLaw::Evaluate(const Part& part, double x, double& below,
                       double& above) {
  const auto next = std::upper_bound(part.x.begin(), part.x.end(), x);
  if (next == part.x.begin()) {
    below = 0;
    above = 1;
    return;
  }
  if (next == part.x.end()) {
    below = 1;
    above = 0;
    return;
  }
  const size_t i = next - part.x.begin();
  const double share = (x - part.x[i - 1]) / (part.x[i] - part.x[i - 1]);
  below = std::exp(part.log_below[i - 1] +
                   share * (part.log_below[i] - part.log_below[i - 1]));
  above = std::exp(part.log_above[i - 1] +
                   share * (part.log_above[i] - part.log_above[i - 1]));
}

double TailLaw::Hazard(double x) const {
  double below = 0, above = 0;
  for (const Part& part : parts_) {
    double b = 0, a = 0;
    Evaluate(part, x, b, a);
    below += part.weight * b;
    above += part.weight * a;
  }
  return HazardOf(below, above);
}

double TailLaw::Below(double x) const { return std::exp(-Hazard(x)); }

double TailLaw::Above(double x) const { return -std::expm1(-Hazard(x)); }

double TailLaw::low() const {
  double low = parts_.front().x.front();
  for (const Part& part : parts_) low = std::min(low, part.x.front());
  return low;
}

double TailLaw::high() const {
  double high = parts_.front().x.back();
  for (const Part& part : parts_) high = std::max(high, part.x.back());
  return high;
}

double TailLaw::WidestGap() const {
  constexpr int kCells = 400, kEnd = 8;
  static const std::vector<double> kScores = [] {
    std::vector<double> scores;
    for (int i = kEnd; i <= kCells - kEnd; ++i) {
      scores.push_back(stats::NormalQuantile(static_cast<double>(i) / kCells));
    }
    return scores;
  }();
  const std::vector<double> x = AtScores(kScores);
  double widest = 0;
  for (size_t i = 2; i < x.size(); ++i) {
    widest = std::max(widest, x[i] - x[i - 2]);
  }
  return widest;
}

double TailLaw::AtHazard(double hazard) const {
  return Crossing([&](double x) { return Hazard(x); }, hazard, low(), high(),
                  40);
}

std::vector<double> TailLaw::AtScores(std::span<const double> scores) const {
  std::vector<double> x;
  for (const Part& part : parts_) {
    x.insert(x.end(), part.x.begin(), part.x.end());
  }
  std::sort(x.begin(), x.end());
  x.erase(std::unique(x.begin(), x.end()), x.end());
  // On the scale of hazards, with the value from the left at jumps.
  std::vector<double> values(scores.size());
  size_t node = 0;
  double hazard = Hazard(x[0]), before = kMostHazard;
  for (size_t i = 0; i < scores.size(); ++i) {
    const double target = -LogNormalCdf(scores[i]);
    while (node + 1 < x.size() && hazard > target) {
      before = hazard;
      hazard = Hazard(x[++node]);
    }
    values[i] = x[node];
    if (node == 0 || hazard > target) continue;
    // Where most of the fall happens at the node itself there is a jump.
    const double left = Hazard(x[node] - 1e-9 * (x[node] - x[node - 1]));
    if (left > target) continue;
    const double span = before - left;
    const double share = span > 0 ? (before - target) / span : 1;
    values[i] =
        x[node - 1] + std::clamp(share, 0.0, 1.0) * (x[node] - x[node - 1]);
  }
  return values;
}

// Probability evenly spread between nodes.
void TailLaw::TakeCumulantsFromNodes() {
  const double origin = parts_.front().x[parts_.front().x.size() / 2];
  double moment[5] = {};
  for (const Part& part : parts_) {
    for (size_t i = 0; i < part.x.size(); ++i) {
      const double left = i == 0 ? 0 : std::exp(part.log_below[i - 1]);
      const double left_above = i == 0 ? 1 : std::exp(part.log_above[i - 1]);
      double mass = std::exp(part.log_below[i]) - left;
      if (left > 0.5) mass = left_above - std::exp(part.log_above[i]);
      if (mass <= 0) continue;
      mass *= part.weight;
      const double a = part.x[i == 0 ? 0 : i - 1] - origin;
      const double b = part.x[i] - origin;
      moment[0] += mass;
      moment[1] += mass * (a + b) / 2;
      moment[2] += mass * (a * a + a * b + b * b) / 3;
      moment[3] += mass * (a + b) * (a * a + b * b) / 4;
      moment[4] += mass *
                   (a * a * a * a + a * a * a * b + a * a * b * b +
                    a * b * b * b + b * b * b * b) /
                   5;
    }
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
  constexpr double kLevels[kRanges + 1] = {40, 3e-2, 1e-4, 1e-9};
  double ends[kRanges + 1];
  for (int i = 0; i <= kRanges; ++i) ends[i] = law.AtHazard(kLevels[i]);
  for (int i = 0; i < kRanges; ++i) {
    Range& range = ranges_[i];
    range.low = ends[i];
    range.high = std::max(ends[i + 1], ends[i]);
    const double width = range.high - range.low;
    range.cells_per_second = width > 0 ? kCells / width : 0;
    for (int cell = 0; cell <= kCells; ++cell) {
      range.hazard.push_back(law.Hazard(range.low + width * cell / kCells));
    }
  }
}

double HazardTable::Inverse(double hazard) const {
  for (const Range& range : ranges_) {
    if (range.hazard.back() > hazard) continue;
    const auto next =
        std::partition_point(range.hazard.begin(), range.hazard.end(),
                             [&](double h) { return h > hazard; });
    const auto cell = next - range.hazard.begin();
    return range.low +
           (range.high - range.low) * static_cast<double>(cell) / kCells;
  }
  return ranges_[kRanges - 1].high;
}

}  // namespace prism::step
