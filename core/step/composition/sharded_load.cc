#include "core/step/composition/sharded_load.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/stats/draw_kernels.h"
#include "core/step/composition/sharded_budget.h"
#include "core/step/composition/sharded_kernels.h"

namespace prism::step {
namespace {

constexpr uint32_t kLoadStreams = 0x5D000000;

// Largest loads drawn, where replicas are alike and where they are not, and
// replicas drawn for their slowdown.
constexpr int kLargestAlike = 32;
constexpr int kLargest = 64;
constexpr int kSlowest = 48;
// Replicas are drawn for their slowdown where it is this much of the load's
// spread above the median.
constexpr double kSlowShare = 0.5;
// Loads below the drawn ones, from the top: shares of their number and where
// in the rest their representative lies.
constexpr double kRestShare[] = {0.1, 0.2, 0.3, 0.4};
constexpr double kRestPlace[] = {0.05, 0.2, 0.45, 0.8};

// Hazards that end the integral: of the maximum, from above and below.
constexpr double kLastHazard = 3e-5;
constexpr float kFirstHazard = 8;
// Cells of the integral, where the law is smooth and where it is not: one less
// than whole vectors.
constexpr int kCells = 23;
constexpr int kManyCells = 63;
// Replicas that add less than this to a hazard of kEarlyHazard do not matter.
constexpr double kEarlyHazard = 3;
constexpr double kLeastHazard = 3e-4;
// Each costs some ten microseconds.
constexpr int kRowsBetweenLooks = 64;

// One replica or several, scaled to the common law.
struct Late {
  double shift = 0, scale = 1, inverse_scale = 1, count = 1;
};

// Values of the common law at the hazards that matter.
struct HazardEnds {
  explicit HazardEnds(const HazardTable& own)
      : first(own.Inverse(static_cast<double>(kFirstHazard))),
        early(own.Inverse(kEarlyHazard)),
        least(own.Inverse(kLeastHazard)),
        last(own.Inverse(kLastHazard)) {}
  double first, early, least, last;
};

// A value below which the maximum hardly ever lies, not below `low`.
double FirstOfMaximum(const HazardTable& own, const std::vector<Late>& late,
                      double low, double high) {
  constexpr int kPasses = 2;
  constexpr size_t kNodes = 8;
  for (int pass = 0; pass < kPasses && high > low; ++pass) {
    const double step = (high - low) / (kNodes - 1);
    std::array<float, kNodes> hazard = {};
    for (const Late& l : late) {
      own.AddTo((low - l.shift) * l.inverse_scale, step * l.inverse_scale,
                l.count, kNodes, hazard.data());
    }
    size_t first = 0;
    while (first + 2 < kNodes && hazard[first + 1] >= kFirstHazard) ++first;
    low += static_cast<double>(first) * step;
    if (first == 0) break;
  }
  return low;
}

// Mean, variance and third moment of the maximum, from its distribution
// function on equidistant values.
BarrierMoments MomentsOfMaximum(const HazardTable& own, const HazardEnds& ends,
                                int cells, std::vector<Late>& late) {
  double low = -1e300, early = -1e300, high = -1e300;
  for (const Late& l : late) {
    low = std::max(low, l.shift + l.scale * ends.first);
    early = std::max(early, l.shift + l.scale * ends.early);
    high = std::max(high, l.shift + l.scale * ends.last);
  }
  std::erase_if(late, [&](const Late& l) {
    return l.shift + l.scale * ends.least < early && l.count == 1;
  });
  for (const Late& l : late) {
    if (l.count == 1) continue;
    high =
        std::max(high, l.shift + l.scale * own.Inverse(kLastHazard / l.count));
  }
  // Of a smooth law what lies below the maximum costs little.
  if (cells == kManyCells) low = FirstOfMaximum(own, late, low, high);
  const double step = (high - low) / cells;
  if (step <= 0) return {high, 0, 0};
  std::array<float, kManyCells + 1> row = {};
  const size_t nodes = cells + 1;
  for (const Late& l : late) {
    own.AddTo((low - l.shift) * l.inverse_scale, step * l.inverse_scale,
              l.count, nodes, row.data());
  }
  ExpMinus(nodes, row.data());
  double before = 0, m1 = 0, m2 = 0, m3 = 0;
  for (int i = 0; i <= cells; ++i) {
    const double below = i == cells ? 1 : static_cast<double>(row[i]);
    const double mass = below - before;
    const double y = i == 0 ? 0 : (i - 0.5) * step;
    m1 += mass * y;
    m2 += mass * y * y;
    m3 += mass * y * y * y;
    before = below;
  }
  const double second = m2 - m1 * m1;
  // The masses sit in the middle of their cells: Sheppard's correction.
  return {low + m1, std::max(second - step * step / 12, 0.0),
          m3 - 3 * m1 * m2 + 2 * m1 * m1 * m1};
}

}  // namespace

// Rows of uniforms, two a call of the generator.
class LoadPool::UniformSource {
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

ReplicaLoads::ReplicaLoads(const StepGraph& graph,
                           const stats::Distribution& load)
    : load_(load),
      law_(ScoreLaw::Of(load)),
      direct_(std::holds_alternative<stats::Empirical>(load.kind())),
      replicas_(graph.grid.replicas) {
  if (!graph.slowdown.empty()) ChooseSlowest(graph);
}

void ReplicaLoads::TakeQuantiles(std::vector<double>& above) const {
  for (double& p : above) p = std::clamp(p, 1e-15, 1 - 1e-15);
  if (direct_) {
    for (double& p : above) p = load_.Quantile(1 - p);
    return;
  }
  stats::NormalScores(above.data(), above.size(), above.data());
  for (double& z : above) z = law_.At(-z);
}

void ReplicaLoads::ChooseSlowest(const StepGraph& graph) {
  const int lanes = graph.grid.lanes;
  std::vector<double> slow(replicas_);
  for (int r = 0; r < replicas_; ++r) {
    const auto first = graph.slowdown.begin() + static_cast<int64_t>(r) * lanes;
    slow[r] = *std::max_element(first, first + lanes);
  }
  std::vector<int> order(replicas_);
  std::iota(order.begin(), order.end(), 0);
  auto is_slower = [&](int a, int b) {
    return slow[a] > slow[b] || (slow[a] == slow[b] && a < b);
  };
  const auto middle = order.begin() + replicas_ / 2;
  std::nth_element(order.begin(), middle, order.end(), is_slower);
  const double load_spread = std::sqrt(load_.Variance()) / load_.Mean();
  const double least = slow[*middle] * (1 + kSlowShare * load_spread);
  const int most = std::min(kSlowest, replicas_);
  std::partial_sort(order.begin(), order.begin() + most, order.end(),
                    is_slower);
  int slowest = 0;
  while (slowest < most && slow[order[slowest]] > least) ++slowest;
  slowest_.assign(order.begin(), order.begin() + slowest);
  others_.assign(order.begin() + slowest, order.end());
}

LoadPool::LoadPool(const ReplicaLoads& loads, uint64_t random_key, int rows)
    : loads_(loads), rows_(rows) {
  DrawRows(random_key);
}

void LoadPool::DrawRows(uint64_t random_key) {
  UniformSource source(random_key, rows_);
  const auto& slowest = loads_.slowest();
  const int others = loads_.replicas() - static_cast<int>(slowest.size());
  const int largest =
      std::min(slowest.empty() ? kLargestAlike : kLargest, others);
  const bool has_rest = others > largest;
  members_ = slowest.size() + largest + (has_rest ? std::size(kRestShare) : 0);
  member_.resize(members_ * rows_);
  std::vector<double> value(stats::RowSize(rows_), 0.5);
  auto store = [&](size_t m, double count, int replica) {
    loads_.TakeQuantiles(value);
    for (int row = 0; row < rows_; ++row) {
      member_[row * members_ + m] = {value[row], count, replica};
    }
  };

  // log of the uniform order statistic, from the top: Renyi's representation.
  std::vector<double> log_u(rows_, 0.0);
  size_t m = 0;
  for (int k = 0; k < largest; ++k) {
    const auto& uniform = source.Next();
    for (int row = 0; row < rows_; ++row) {
      const double u = k == 0 ? (row + uniform[row]) / rows_ : uniform[row];
      log_u[row] += std::log(u) / (others - k);
      value[row] = -std::expm1(log_u[row]);
    }
    store(m++, 1, -1);
  }
  if (!loads_.others().empty()) AssignReplicas(source, largest);
  for (size_t j = 0; has_rest && j < std::size(kRestShare); ++j) {
    for (int row = 0; row < rows_; ++row) {
      value[row] = 1 - std::exp(log_u[row]) * (1 - kRestPlace[j]);
    }
    store(m++, kRestShare[j] * (others - largest), -1);
  }
  for (int replica : slowest) {
    const std::vector<double> order = source.Next();
    // Stratified, in an order of its own.
    std::vector<int> stratum(rows_);
    std::iota(stratum.begin(), stratum.end(), 0);
    std::sort(stratum.begin(), stratum.end(),
              [&](int a, int b) { return order[a] < order[b]; });
    const auto& uniform = source.Next();
    for (int row = 0; row < rows_; ++row) {
      value[row] = (stratum[row] + uniform[row]) / rows_;
    }
    store(m++, 1, replica);
  }
}

// Loads know nothing of replicas: whose the largest are is drawn without
// replacement.
void LoadPool::AssignReplicas(UniformSource& source, int largest) {
  const auto& replicas = loads_.others();
  const size_t others = replicas.size();
  std::vector<std::vector<size_t>> drawn(rows_);
  for (int k = 0; k < largest; ++k) {
    const auto& uniform = source.Next();
    for (int row = 0; row < rows_; ++row) {
      auto place =
          static_cast<size_t>(uniform[row] * static_cast<double>(others));
      auto& known = drawn[row];
      while (std::find(known.begin(), known.end(), place) != known.end()) {
        place = (place + 1) % others;
      }
      known.push_back(place);
      member_[row * members_ + k].replica = replicas[place];
    }
  }
}

std::vector<BarrierMoments> LoadPool::Moments(
    const StretchLaw& law, int entry, const base::Budget& budget) const {
  const std::vector<WorkMoments>* replicas =
      law.replicas.empty() ? nullptr : &law.replicas[entry];
  WorkMoments average = law.own_moments;
  const auto& others = loads_.others();
  if (replicas != nullptr && !others.empty()) {
    average = {};
    for (int r : others) {
      const WorkMoments& m = (*replicas)[r];
      average.compute_mean += m.compute_mean / others.size();
      average.network_mean += m.network_mean / others.size();
      average.compute_variance += m.compute_variance / others.size();
      average.network_variance += m.network_variance / others.size();
    }
  }
  const double own_mean = law.own.mean();
  const double own_deviation = std::sqrt(law.own.variance());
  std::vector<BarrierMoments> result(rows_);
  const HazardEnds ends(*law.own_hazard);
  const int cells = IsNearNormal(law.own.cumulants()) ? kCells : kManyCells;
  std::vector<Late> late;
  for (int row = 0; row < rows_; ++row) {
    if (row % kRowsBetweenLooks == 0 && IsOver(budget)) return {};
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
      late.push_back({mean - scale * own_mean, scale, 1 / scale, member.count});
    }
    result[row] = own_deviation == 0
                      ? BarrierMoments{latest, 0, 0}
                      : MomentsOfMaximum(*law.own_hazard, ends, cells, late);
  }
  return result;
}

}  // namespace prism::step
