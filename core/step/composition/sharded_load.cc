#include "core/step/composition/sharded_load.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/stats/draw_kernels.h"
#include "core/stats/normal.h"

namespace prism::step {
namespace {

constexpr uint32_t kLoadStreams = 0x5D000000;

// Largest loads drawn, and replicas drawn for their slowdown.
constexpr int kLargest = 32;
constexpr int kSlowest = 32;
// Loads below the drawn ones, from the top: shares of their number and where
// in the rest their representative lies.
constexpr double kRestShare[] = {0.1, 0.2, 0.3, 0.4};
constexpr double kRestPlace[] = {0.05, 0.2, 0.45, 0.8};

// Hazards that end the integral: of the maximum, from above and below.
constexpr double kLastHazard = 1e-5;
constexpr double kFirstHazard = 9;
constexpr int kCells = 28;

class LoadQuantile {
 public:
  explicit LoadQuantile(const stats::Distribution& load)
      : load_(load), law_(ScoreLaw::Of(load)) {}

  // Quantile at 1 - upper.
  double At(double upper) const {
    upper = std::clamp(upper, 1e-300, 1 - 1e-16);
    if (std::holds_alternative<stats::Empirical>(load_.kind())) {
      return load_.Quantile(std::clamp(1 - upper, 1e-16, 1 - 1e-16));
    }
    return law_.At(-stats::NormalQuantile(upper));
  }

 private:
  const stats::Distribution& load_;
  const ScoreLaw law_;
};

// Rows of uniforms, two a call of the generator.
class UniformSource {
 public:
  UniformSource(uint64_t key, int rows)
      : key_(key),
        replica_(stats::RowSize(rows), 0),
        sample_(stats::RowSize(rows)),
        first_(stats::RowSize(rows)),
        second_(stats::RowSize(rows)) {
    std::iota(sample_.begin(), sample_.end(), 0);
  }

  const std::vector<double>& Next() {
    if (slot_++ % 2 == 1) return second_;
    stats::UniformRows(
        {key_, slot_ / 2, kLoadStreams, replica_.data(), sample_.data()},
        sample_.size(), first_.data(), second_.data());
    return first_;
  }

 private:
  uint64_t key_;
  uint32_t slot_ = 0;
  std::vector<uint64_t> replica_, sample_;
  std::vector<double> first_, second_;
};

// One replica or several, scaled to the common law.
struct Late {
  double shift = 0, scale = 1, count = 1;
};

// Mean, variance and third moment of the maximum: trapezoids under its
// distribution function.
BarrierMoments MomentsOfMaximum(const HazardTable& own,
                                std::vector<Late>& late) {
  const double first = own.Inverse(kFirstHazard);
  const double far = own.Inverse(kLastHazard / 8);
  double low = -1e300, high = -1e300;
  for (const Late& l : late) {
    low = std::max(low, l.shift + l.scale * first);
  }
  // What ends before the earliest maximum does not matter.
  std::erase_if(late,
                [&](const Late& l) { return l.shift + l.scale * far < low; });
  for (const Late& l : late) {
    high =
        std::max(high, l.shift + l.scale * own.Inverse(kLastHazard / l.count));
  }
  const double step = (high - low) / kCells;
  if (step <= 0) return {high, 0, 0};
  double before = 0, total = 0, m1 = 0, m2 = 0, m3 = 0;
  for (int i = 0; i <= kCells; ++i) {
    const double x = low + i * step;
    double hazard = 0;
    for (const Late& l : late) {
      hazard += l.count * own.At((x - l.shift) / l.scale);
      if (hazard > 40) break;
    }
    const double below = i == kCells ? 1 : std::exp(-hazard);
    const double mass = below - before;
    const double y = i == 0 ? 0 : (i - 0.5) * step;
    total += mass;
    m1 += mass * y;
    m2 += mass * y * y;
    m3 += mass * y * y * y;
    before = below;
  }
  const double mean = m1 / total;
  const double second = m2 / total - mean * mean;
  // The masses sit in the middle of their cells: Sheppard's correction.
  return {low + mean, std::max(second - step * step / 12, 0.0),
          m3 / total - 3 * mean * m2 / total + 2 * mean * mean * mean};
}

}  // namespace

LoadPool::LoadPool(const StepGraph& graph, const stats::Distribution& load,
                   uint64_t random_key, int rows)
    : rows_(rows), replicas_(graph.grid.replicas) {
  ChooseSlowest(graph);
  DrawRows(load, random_key);
}

void LoadPool::ChooseSlowest(const StepGraph& graph) {
  if (graph.slowdown.empty()) return;
  const int lanes = graph.grid.lanes;
  std::vector<double> slow(replicas_);
  for (int r = 0; r < replicas_; ++r) {
    const auto first = graph.slowdown.begin() + static_cast<int64_t>(r) * lanes;
    slow[r] = *std::max_element(first, first + lanes);
  }
  std::vector<int> order(replicas_);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return slow[a] > slow[b]; });
  const int slowest = std::min(kSlowest, replicas_);
  slowest_.assign(order.begin(), order.begin() + slowest);
  others_.assign(order.begin() + slowest, order.end());
}

void LoadPool::DrawRows(const stats::Distribution& load, uint64_t random_key) {
  const LoadQuantile quantile(load);
  UniformSource source(random_key, rows_);
  const int others = replicas_ - static_cast<int>(slowest_.size());
  const int largest = std::min(kLargest, others);
  const bool has_rest = others > largest;
  members_ = slowest_.size() + largest + (has_rest ? std::size(kRestShare) : 0);
  member_.resize(members_ * rows_);

  // log of the uniform order statistic, from the top: Renyi's representation.
  std::vector<double> log_u(rows_, 0.0);
  size_t m = 0;
  for (int k = 0; k < largest; ++k, ++m) {
    const auto& uniform = source.Next();
    for (int row = 0; row < rows_; ++row) {
      const double u = k == 0 ? (row + uniform[row]) / rows_ : uniform[row];
      log_u[row] += std::log(u) / (others - k);
      member_[row * members_ + m] = {quantile.At(-std::expm1(log_u[row])), 1,
                                     -1};
    }
  }
  // Loads know nothing of replicas: whose they are is a random draw without
  // replacement.
  if (!others_.empty()) {
    std::vector<std::vector<int>> drawn(rows_);
    for (int k = 0; k < largest; ++k) {
      const auto& uniform = source.Next();
      for (int row = 0; row < rows_; ++row) {
        auto place = static_cast<size_t>(uniform[row] * others);
        const auto& known = drawn[row];
        while (std::find(known.begin(), known.end(), static_cast<int>(place)) !=
               known.end()) {
          place = (place + 1) % others;
        }
        drawn[row].push_back(static_cast<int>(place));
        member_[row * members_ + k].replica = others_[place];
      }
    }
  }
  for (size_t j = 0; has_rest && j < std::size(kRestShare); ++j, ++m) {
    for (int row = 0; row < rows_; ++row) {
      const double u = std::exp(log_u[row]) * (1 - kRestPlace[j]);
      member_[row * members_ + m] = {quantile.At(1 - u),
                                     kRestShare[j] * (others - largest), -1};
    }
  }
  for (int replica : slowest_) {
    const auto& uniform = source.Next();
    for (int row = 0; row < rows_; ++row) {
      // Where the slowest are all there are, the rows are stratified by the
      // slowest one's load.
      const double u = others == 0 && replica == slowest_[0]
                           ? (row + uniform[row]) / rows_
                           : uniform[row];
      member_[row * members_ + m] = {quantile.At(1 - u), 1, replica};
    }
    ++m;
  }
}

std::vector<BarrierMoments> LoadPool::Moments(
    const StretchLaw& law, int entry, const base::Budget& budget) const {
  const std::vector<WorkMoments>* replicas =
      law.replicas.empty() ? nullptr : &law.replicas[entry];
  WorkMoments average = law.own_moments;
  if (replicas != nullptr && !others_.empty()) {
    average = {};
    for (int r : others_) {
      const WorkMoments& m = (*replicas)[r];
      average.compute_mean += m.compute_mean / others_.size();
      average.network_mean += m.network_mean / others_.size();
      average.compute_variance += m.compute_variance / others_.size();
      average.network_variance += m.network_variance / others_.size();
    }
  }
  const double own_mean = law.own.mean();
  const double own_deviation = std::sqrt(law.own.variance());
  std::vector<BarrierMoments> result(rows_);
  std::vector<Late> late;
  for (int row = 0; row < rows_; ++row) {
    if (row % 64 == 0 && budget.Cancelled()) return {};
    late.clear();
    double latest = 0;
    for (size_t m = 0; m < members_; ++m) {
      const Member& member = member_[row * members_ + m];
      const WorkMoments& moments = member.replica >= 0 && replicas != nullptr
                                       ? (*replicas)[member.replica]
                                       : average;
      const double mean = moments.mean(member.load);
      latest = std::max(latest, mean);
      if (own_deviation == 0) continue;
      const double scale =
          std::sqrt(moments.variance(member.load)) / own_deviation;
      late.push_back({mean - scale * own_mean, scale, member.count});
    }
    result[row] = own_deviation == 0 ? BarrierMoments{latest, 0, 0}
                                     : MomentsOfMaximum(*law.own_hazard, late);
  }
  return result;
}

}  // namespace prism::step
