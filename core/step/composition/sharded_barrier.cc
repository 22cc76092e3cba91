#include "core/step/composition/sharded_barrier.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "core/stats/normal.h"
#include "core/step/composition/operation_law.h"
#include "core/step/composition/sharded_budget.h"

namespace prism::step {
namespace {

// What matters of the upper tail of one replica's work.
constexpr double kOwnTail = 1e-8;
// Of many, replicas whose means differ by less than the distance over which the
// common hazard falls by a factor e are one bin, two points of which stand for
// them. Beyond kNearBins of them only long tails matter, and bins become wider.
constexpr double kBinWidth = 1;
constexpr double kLeastBinWidth = 1e-3;  // in deviations: at jumps
constexpr int kNearBins = 40;
// Where there are no more unlike replicas than this, each is a bin.
constexpr size_t kMostApart = 64;
constexpr double kBinGrowth = 1.25;
// Components of lower weight are stalls where their draws are apart from the
// laws: normal scores would make one stall two.
constexpr double kRareWeight = 0.02;
// Entries of replicas of their own speeds that are kept: 128 MiB.
constexpr int64_t kMostEntries = int64_t{1} << 22;
// In deviations: a gap between a law's values that is taken for a jump.
constexpr double kJump = 0.2;
// Each costs up to a hundred microseconds.
constexpr int kReplicasBetweenLooks = 16;

WorkMoments& operator+=(WorkMoments& a, const WorkMoments& b) {
  a.compute_mean += b.compute_mean;
  a.network_mean += b.network_mean;
  a.compute_variance += b.compute_variance;
  a.network_variance += b.network_variance;
  return a;
}

WorkMoments Times(const WorkMoments& m, double factor) {
  return {m.compute_mean * factor, m.network_mean,
          m.compute_variance * factor * factor, m.network_variance};
}

// Replicas of about the same speed: x -> (x - shift) / scale takes their law
// to the common one.
struct Bin {
  double count = 0, shift = 0, scale = 0;

  bool operator==(const Bin&) const = default;
};

// Of a bin: means and scales.
class Members {
 public:
  void Add(double mean, double scale, double count) {
    if (count_ == 0) {
      first_mean_ = mean;
      first_scale_ = scale;
    }
    count_ += count;
    const double m = mean - first_mean_, s = scale - first_scale_;
    mean_ += count * m;
    scale_ += count * s;
    square_ += count * m * m;
    product_ += count * m * s;
  }

  // Two points of the same mean and spread: a sum of smooth functions over the
  // members is then right to the third order.
  void AppendTo(double own_mean, std::vector<Bin>& bins) const {
    const double mean = mean_ / count_, scale = scale_ / count_;
    const double apart =
        std::sqrt(std::max(square_ / count_ - mean * mean, 0.0));
    const double slope =
        apart > 0 ? (product_ / count_ - mean * scale) / (apart * apart) : 0;
    for (const double side : {-apart, apart}) {
      const double s = first_scale_ + scale + slope * side;
      const double m = first_mean_ + mean + side;
      bins.push_back({count_ / 2, m - s * own_mean, s});
    }
    if (apart > 0) return;
    bins.pop_back();
    bins.back().count = count_;
  }

 private:
  double count_ = 0;
  double first_mean_ = 0, first_scale_ = 0;  // the rest is relative to them
  double mean_ = 0, scale_ = 0, square_ = 0, product_ = 0;
};

class StretchBuilder {
 public:
  StretchBuilder(const StepGraph& graph, const Stretch& stretch,
                 const StretchSetting& setting, TailLawCache& cache,
                 const base::Budget& budget)
      : graph_(graph),
        stretch_(stretch),
        setting_(setting),
        cache_(cache),
        budget_(budget) {}

  std::optional<StretchLaw> Build() {
    result_.meets = !stretch_.meetings.empty() && graph_.grid.lanes > 1;
    if (!HasOneClass() || HasTooManyEntries()) return std::nullopt;
    AddParts();
    if (IsOver(budget_)) return std::nullopt;
    result_.own_moments = first_;
    result_.own_moments += between_;
    result_.own_moments += last_;
    CountStallsTogether();
    if (result_.meets && setting_.one_by_one) {
      SetWork();
      if (IsOver(budget_)) return std::nullopt;
      return std::move(result_);
    }
    std::vector<RepeatedLaw> terms;
    for (const Part& part : parts_) terms.push_back({&part.law, part.count});
    result_.own = SumOf(terms, kOwnTail, budget_);
    if (!SetReplicas() || !SetBarriers()) return std::nullopt;
    if (result_.meets && setting_.needs_copula) SetCopula();
    if (result_.meets) SetLatest();
    if (!result_.meets) SetExcess();
    if (IsOver(budget_)) return std::nullopt;
    return std::move(result_);
  }

 private:
  // Lanes that meet after the first meeting, all with the same law.
  struct Meeting {
    HazardTable hazard;             // of one lane
    double mean = 0, variance = 0;  // of the latest, by the nodes
    std::vector<double> node;       // values of one lane, rising
    bool has_jumps = false;
    double share = 0;  // of its variance that is network
    double count = 1;
    WorkMoments alike;  // of the latest, all times, where all speeds are 1
  };

  // Draws that slowdowns and loads multiply must do so alike.
  bool HasOneClass() const {
    bool compute = false, optimizer = false;
    auto look = [&](const LaneWork& work) {
      for (const OwnDraw& draw : work) {
        compute = compute || draw.factor_class == FactorClass::kCompute;
        optimizer = optimizer || draw.factor_class == FactorClass::kOptimizer;
      }
    };
    for (const auto& meeting : stretch_.meetings) look(meeting.work);
    look(stretch_.work);
    return !(compute && optimizer) || setting_.load == nullptr;
  }

  int Entries() const {
    return result_.meets ? graph_.grid.lanes * graph_.grid.lanes
                         : graph_.grid.lanes;
  }

  bool HasTooManyEntries() const {
    return !graph_.slowdown.empty() &&
           static_cast<int64_t>(Entries()) * graph_.grid.replicas >
               kMostEntries;
  }

  void AddParts() {
    for (size_t i = 0; i < stretch_.meetings.size(); ++i) {
      const LaneMeeting& meeting = stretch_.meetings[i];
      if (i == 0) {
        first_ = AddWork(meeting.work, StretchStall::Place::kFirst);
      } else {
        AddLatest(meeting);
      }
      const OwnDraw shared{meeting.collective, FactorClass::kNetwork,
                           meeting.count};
      between_ += AddWork({shared}, StretchStall::Place::kShared);
    }
    last_ = AddWork(stretch_.work, StretchStall::Place::kLast);
  }

  WorkMoments AddWork(const LaneWork& work, StretchStall::Place place) {
    WorkMoments moments;
    for (const OwnDraw& draw : work) {
      auto [law, draw_moments] = DrawLaw(draw, place, draw.count);
      moments += draw_moments;
      if (law.mean() > 0)
        parts_.push_back({std::move(law), draw.count, place,
                          draw.factor_class == FactorClass::kNetwork});
    }
    return moments;
  }

  // Constant network time goes into network_constant, and the law is 0.
  // `draws` counts the draws of one replica that a stall can befall.
  std::pair<TailLaw, WorkMoments> DrawLaw(const OwnDraw& draw,
                                          StretchStall::Place place,
                                          double draws) {
    const TailLaw plain = CommonLaw(draw, place, draws);
    const bool network = draw.factor_class == FactorClass::kNetwork;
    const double factor = setting_.factor[static_cast<int>(draw.factor_class)];
    if (network && plain.is_constant()) {
      result_.network_constant += draw.count * factor * plain.mean();
      return {TailLaw(), WorkMoments()};
    }
    TailLaw law = plain.Affine(factor, 0);
    WorkMoments moments;
    (network ? moments.network_mean : moments.compute_mean) =
        draw.count * law.mean();
    (network ? moments.network_variance : moments.compute_variance) =
        draw.count * law.variance();
    return {std::move(law), moments};
  }

  // The law without stalls, where these are drawn apart.
  TailLaw CommonLaw(const OwnDraw& draw, StretchStall::Place place,
                    double draws) {
    const auto& whole = graph_.distributions[draw.distribution];
    const bool apart =
        (result_.meets && !setting_.one_by_one) || setting_.load != nullptr;
    if (!apart || !std::holds_alternative<stats::Mixture>(whole.kind())) {
      return cache_.Get(draw.distribution);
    }
    std::vector<stats::MixtureComponent> rare;
    const auto common = SplitRare(whole, kRareWeight, &rare);
    const double factor = setting_.factor[static_cast<int>(draw.factor_class)];
    for (const auto& [weight, stall] : rare) {
      result_.stalls.push_back(
          {.place = place,
           .factor_class = draw.factor_class,
           .seconds = TailLaw::Of(stall).Affine(factor, 0),
           .typical = common.Mean() * factor,
           .expected = weight * draws * graph_.grid.replicas});
    }
    return TailLaw::Of(common);
  }

  // The laws hold one stall of a replica and not two, which add up.
  void CountStallsTogether() {
    double expected = 0;
    for (const StretchStall& stall : result_.stalls) {
      const bool shared = stall.place == StretchStall::Place::kShared;
      expected += stall.expected * (shared ? 1 : graph_.grid.lanes);
    }
    const double replicas = graph_.grid.replicas;
    result_.stalls_together = expected * expected / (2 * replicas);
  }

  // The latest of all lanes, `count` times.
  void AddLatest(const LaneMeeting& meeting) {
    std::vector<std::pair<TailLaw, double>> own;
    WorkMoments lane;
    for (const OwnDraw& draw : meeting.work) {
      const double constant = result_.network_constant;
      auto [law, moments] =
          DrawLaw(draw, StretchStall::Place::kShared,
                  draw.count * meeting.count * graph_.grid.lanes);
      result_.network_constant +=
          (result_.network_constant - constant) * (meeting.count - 1);
      lane += moments;
      own.emplace_back(std::move(law), draw.count);
    }
    if (own.empty()) return;
    std::vector<RepeatedLaw> terms;
    for (const auto& [law, count] : own) terms.push_back({&law, count});
    const TailLaw sum = SumOf(terms, kOwnTail, budget_);
    const TailLaw latest = sum.MaximumOf(graph_.grid.lanes);
    const Meeting all = MeetingOf(sum, latest, lane, meeting.count);
    between_ += all.alike;
    if (!graph_.slowdown.empty()) meetings_.push_back(all);
    parts_.push_back(
        {latest, meeting.count, StretchStall::Place::kShared, false});
  }

  // Tables spread a jump over one of their cells.
  static void AddSidesOfJumps(std::vector<double>& nodes) {
    const double cell = (nodes.back() - nodes.front()) / 256;
    const size_t count = nodes.size();
    for (size_t i = 0; i < count; ++i) {
      nodes.push_back(nodes[i] - cell);
      nodes.push_back(nodes[i] + cell);
    }
    std::sort(nodes.begin(), nodes.end());
  }

  // `sum` is the law of one lane and `lane` its moments.
  Meeting MeetingOf(const TailLaw& sum, const TailLaw& latest,
                    const WorkMoments& lane, double count) const {
    Meeting all{
        .hazard = HazardTable(sum),
        .mean = 0,
        .variance = 0,
        .node = {},
        .has_jumps = sum.WidestGap() > kJump * std::sqrt(sum.variance()),
        .share = 0,
        .count = count,
        .alike = {}};
    const double ratio = IsNearNormal(sum.cumulants()) ? 1.3 : 1.08;
    for (double hazard = 9; hazard > 1e-7;
         hazard /= hazard > 1e-3 ? ratio : 2) {
      all.node.push_back(all.hazard.Inverse(hazard));
    }
    if (all.has_jumps) AddSidesOfJumps(all.node);
    std::tie(all.mean, all.variance) = LatestOver(all.node, [&](double x) {
      return graph_.grid.lanes * all.hazard.At(x);
    });
    if (sum.variance() > 0) all.share = lane.network_variance / sum.variance();
    const double surplus = latest.mean() - sum.mean();
    all.alike.compute_mean =
        (lane.compute_mean + (1 - all.share) * surplus) * count;
    all.alike.network_mean = (lane.network_mean + all.share * surplus) * count;
    all.alike.compute_variance = (1 - all.share) * latest.variance() * count;
    all.alike.network_variance = all.share * latest.variance() * count;
    return all;
  }

  double Slowdown(int replica, int lane) const {
    return graph_
        .slowdown[static_cast<size_t>(replica) * graph_.grid.lanes + lane];
  }

  // Of `alike` in a replica whose lanes have speeds of their own.
  WorkMoments OfReplica(const WorkMoments& alike,
                        std::span<const Meeting> meetings, int replica) const {
    double low = Slowdown(replica, 0), high = low;
    for (int lane = 1; lane < graph_.grid.lanes; ++lane) {
      low = std::min(low, Slowdown(replica, lane));
      high = std::max(high, Slowdown(replica, lane));
    }
    WorkMoments moments = Times(alike, low);
    if (low == high) return moments;
    for (const Meeting& meeting : meetings) {
      const auto [mean, variance] = LatestLane(meeting, replica, low, high);
      const double share = (1 - meeting.share) * meeting.count;
      moments.compute_mean += share * (mean - low * meeting.mean);
      moments.compute_variance +=
          share * (variance - low * low * meeting.variance);
    }
    return moments;
  }

  // Mean and variance of the latest lane of a replica, by parts: integrals of
  // what is above the nodes, which lie where the slowest lane, or the fastest
  // and the slowest, have their probability.
  std::pair<double, double> LatestLane(const Meeting& meeting, int replica,
                                       double fastest, double slowest) const {
    std::vector<double> nodes;
    for (double node : meeting.node) nodes.push_back(slowest * node);
    if (meeting.has_jumps && fastest < slowest) {
      for (double node : meeting.node) nodes.push_back(fastest * node);
      std::sort(nodes.begin(), nodes.end());
    }
    return LatestOver(nodes, [&](double x) {
      double hazard = 0;
      for (int l = 0; l < graph_.grid.lanes; ++l) {
        hazard += meeting.hazard.At(x / Slowdown(replica, l));
      }
      return hazard;
    });
  }

  template <class HazardFunction>
  static std::pair<double, double> LatestOver(std::span<const double> nodes,
                                              const HazardFunction& hazard) {
    const double origin = nodes[0];
    double before = 1, last = 0, mean = 0, square = 0;
    for (double node : nodes) {
      const double x = node - origin;
      const double above = -std::expm1(-hazard(x + origin));
      mean += (x - last) * (before + above) / 2;
      square += (x - last) * (before * last + above * x);
      before = above;
      last = x;
    }
    return {origin + mean, std::max(square - mean * mean, 0.0)};
  }

  // False where the budget is over.
  bool SetReplicas() {
    if (graph_.slowdown.empty()) return true;
    const int lanes = graph_.grid.lanes, replicas = graph_.grid.replicas;
    const int entries = Entries();
    result_.replicas.assign(entries, std::vector<WorkMoments>(replicas));
    for (int r = 0; r < replicas; ++r) {
      if (r % kReplicasBetweenLooks == 0 && IsOver(budget_)) return false;
      WorkMoments between;
      if (result_.meets) between = OfReplica(between_, meetings_, r);
      for (int entry = 0; entry < entries; ++entry) {
        WorkMoments& moments = result_.replicas[entry][r];
        moments = Times(last_, Slowdown(r, entry % lanes));
        if (!result_.meets) continue;
        moments += Times(first_, Slowdown(r, entry / lanes));
        moments += between;
      }
    }
    return true;
  }

  // False where the budget is over.
  bool SetBarriers() {
    const double replicas = graph_.grid.replicas;
    likely_ = replicas;
    if (setting_.load != nullptr || !result_.replicas.empty()) {
      result_.own_hazard = std::make_shared<HazardTable>(result_.own);
    }
    if (setting_.load != nullptr) {
      likely_ = CountNearLargest();
      return true;
    }
    if (result_.replicas.empty()) {
      result_.barrier.push_back(
          std::make_shared<TailLaw>(result_.own.MaximumOf(replicas)));
      return true;
    }
    likely_ = 0;
    std::vector<std::vector<Bin>> known;
    for (const auto& moments : result_.replicas) {
      if (IsOver(budget_)) return false;
      known.push_back(BinsOf(moments, result_.own, *result_.own_hazard));
      const auto same =
          std::find(known.begin(), known.end(), known.back()) - known.begin();
      result_.barrier.push_back(
          same + 1 == std::ssize(known) || known.back().empty()
              ? std::make_shared<TailLaw>(Barrier(
                    moments, known.back(), result_.own, *result_.own_hazard))
              : result_.barrier[same]);
      ++barriers_;
      CountLikely(known.back(), *result_.barrier.back());
    }
    likely_ = std::max(1.0, likely_ / barriers_);
    return true;
  }

  // A stalled replica makes the barrier wait from its typical end on.
  void SetExcess() {
    if (result_.stalls.empty()) return;
    const double replicas = graph_.grid.replicas;
    const double largest_load = setting_.load->Quantile(
        std::clamp(1 - 0.56 / replicas, 1e-6, 1 - 1e-12));
    const double typical_end = std::max(result_.own.MaximumOf(replicas).mean(),
                                        result_.own_moments.mean(largest_load));
    const double ahead = typical_end - result_.own.mean();
    for (const StretchStall& stall : result_.stalls) {
      const double shift = ahead + stall.typical;
      const double high = stall.seconds.high() - shift;
      if (high <= 0) continue;
      result_.excess.push_back(TailLaw::OfHazard(
          [&](double x) {
            return x < 0 ? TailLaw::kMostHazard
                         : stall.expected * stall.seconds.Above(x + shift);
          },
          -1e-6 * high, high));
    }
    result_.stalls.clear();
  }

  std::vector<Bin> BinsOf(const std::vector<WorkMoments>& replicas,
                          const TailLaw& common,
                          const HazardTable& hazard) const {
    double latest = 0, deviation = 0;
    for (const WorkMoments& m : replicas) {
      latest = std::max(latest, m.mean(1));
      deviation = std::max(deviation, std::sqrt(m.variance(1)));
    }
    if (deviation == 0) return {};
    const double own = std::sqrt(common.variance());
    std::vector<Bin> bins = DistinctBins(replicas, common.mean(), own);
    if (!bins.empty()) return bins;
    const double width =
        kBinWidth * deviation / own * FoldingDistance(common, hazard);
    std::map<int, Members> members;
    for (const WorkMoments& m : replicas) {
      members[BinOf((latest - m.mean(1)) / width)].Add(
          m.mean(1), std::sqrt(m.variance(1)) / own, 1);
    }
    for (const auto& [place, m] : members) m.AppendTo(common.mean(), bins);
    return bins;
  }

  // One bin for each mean and scale, or nothing where these are too many.
  static std::vector<Bin> DistinctBins(const std::vector<WorkMoments>& replicas,
                                       double own_mean, double own_deviation) {
    std::map<std::pair<double, double>, double> count;
    for (const WorkMoments& m : replicas) {
      count[{m.mean(1), std::sqrt(m.variance(1)) / own_deviation}] += 1;
      if (count.size() > kMostApart) return {};
    }
    std::vector<Bin> bins;
    for (const auto& [member, n] : count) {
      const auto& [mean, scale] = member;
      bins.push_back({n, mean - scale * own_mean, scale});
    }
    return bins;
  }

  // By the distance behind the latest, in widths.
  static int BinOf(double behind) {
    if (behind < kNearBins) return static_cast<int>(behind);
    const double further = std::log(behind / kNearBins) / std::log(kBinGrowth);
    return kNearBins + static_cast<int>(std::min(further, 1e6));
  }

  // The shortest distance over which the common hazard falls by a factor e,
  // from the median to the tail that the latest of all replicas can be in.
  double FoldingDistance(const TailLaw& common,
                         const HazardTable& table) const {
    constexpr double kFactor = 2;
    const double last = 0.1 / graph_.grid.replicas;
    double shortest = std::sqrt(common.variance());
    double before = table.Inverse(0.7);
    for (double hazard = 0.7 / kFactor; hazard > last; hazard /= kFactor) {
      const double x = table.Inverse(hazard);
      shortest = std::min(shortest, (x - before) / std::log(kFactor));
      before = x;
    }
    return std::max(shortest, kLeastBinWidth * std::sqrt(common.variance()));
  }

  TailLaw Barrier(const std::vector<WorkMoments>& replicas,
                  const std::vector<Bin>& bins, const TailLaw& common,
                  const HazardTable& hazard) const {
    if (bins.empty()) {
      double latest = 0;
      for (const auto& m : replicas) latest = std::max(latest, m.mean(1));
      return TailLaw().Affine(1, latest);
    }
    double low = 0, high = 0;
    for (const Bin& bin : bins) {
      low = std::max(low, bin.shift + bin.scale * common.low());
      high = std::max(high, bin.shift + bin.scale * common.high());
    }
    return TailLaw::OfHazard(
        [&](double x) {
          double sum = 0;
          for (const Bin& bin : bins) {
            sum += bin.count * hazard.At((x - bin.shift) / bin.scale);
          }
          return sum;
        },
        low, high);
  }

  // How many equal replicas would have this maximum.
  void CountLikely(const std::vector<Bin>& bins, const TailLaw& barrier) {
    if (bins.empty()) return;
    double all = 0, most = 0;
    for (const Bin& bin : bins) {
      const double hazard =
          result_.own_hazard->At((barrier.mean() - bin.shift) / bin.scale);
      all += bin.count * hazard;
      most = std::max(most, hazard);
    }
    likely_ += most > 0 ? all / most : 1;
  }

  TailLaw ClassSum(StretchStall::Place place, bool network) const {
    std::vector<RepeatedLaw> terms;
    for (const Part& part : parts_) {
      if (part.place != place || part.is_network != network) continue;
      terms.push_back({&part.law, part.count});
    }
    return SumOf(terms, kOwnTail, budget_);
  }

  void SetWork() {
    using Place = StretchStall::Place;
    auto work = std::make_shared<ReplicaWork>();
    work->first_compute = ClassSum(Place::kFirst, false);
    work->first_network = ClassSum(Place::kFirst, true);
    work->last_compute = ClassSum(Place::kLast, false);
    work->last_network = ClassSum(Place::kLast, true);
    work->collectives = ClassSum(Place::kShared, true);
    work->latest = ClassSum(Place::kShared, false);
    result_.work = work;
    if (meetings_.empty()) return;
    WorkMoments alike;
    for (const Meeting& meeting : meetings_) alike += meeting.alike;
    for (int r = 0; r < graph_.grid.replicas; ++r) {
      if (IsOver(budget_)) return;
      const WorkMoments own = OfReplica(alike, meetings_, r);
      const double scale = alike.variance(1) > 0
                               ? std::sqrt(own.variance(1) / alike.variance(1))
                               : 0;
      work->latest_of.emplace_back(scale, own.mean(1) - scale * alike.mean(1));
    }
  }

  // The sum of the parts of one place; the latest lane's with `latest`.
  TailLaw PlaceSum(StretchStall::Place place, bool latest) const {
    std::vector<RepeatedLaw> terms;
    for (const Part& part : parts_) {
      if (part.place == place) terms.push_back({&part.law, part.count});
    }
    const TailLaw sum = SumOf(terms, kOwnTail, budget_);
    return latest ? sum.MaximumOf(graph_.grid.lanes) : sum;
  }

  // Among entries of one last lane, the latest is the maximum over replicas
  // with the latest first lane, of which the law is known: the correlation
  // that gives its mean. With `last` among entries of one first lane.
  double CorrelationByLatest(bool first, bool last) const {
    using Place = StretchStall::Place;
    const TailLaw sums[] = {PlaceSum(Place::kFirst, first),
                            PlaceSum(Place::kShared, false),
                            PlaceSum(Place::kLast, last)};
    const RepeatedLaw terms[] = {{&sums[0], 1}, {&sums[1], 1}, {&sums[2], 1}};
    const double count = std::max(1.0, likely_);
    return CorrelationOfLatest(
        result_.own.MaximumOf(count), graph_.grid.lanes,
        SumOf(terms, kOwnTail, budget_).MaximumOf(count).mean());
  }

  // The latest entry of all.
  void SetLatest() {
    using Place = StretchStall::Place;
    if (setting_.load != nullptr) return;
    const TailLaw sums[] = {PlaceSum(Place::kFirst, true),
                            PlaceSum(Place::kShared, false),
                            PlaceSum(Place::kLast, true)};
    const RepeatedLaw terms[] = {{&sums[0], 1}, {&sums[1], 1}, {&sums[2], 1}};
    const TailLaw common = SumOf(terms, kOwnTail, budget_);
    if (graph_.slowdown.empty() || common.is_constant()) {
      result_.latest =
          std::make_shared<TailLaw>(common.MaximumOf(graph_.grid.replicas));
      return;
    }
    const Meeting ends[] = {
        MeetingOf(PlaceSum(Place::kFirst, false), sums[0], first_, 1),
        MeetingOf(PlaceSum(Place::kLast, false), sums[2], last_, 1)};
    std::vector<WorkMoments> replicas(graph_.grid.replicas);
    for (int r = 0; r < graph_.grid.replicas; ++r) {
      if (r % kReplicasBetweenLooks == 0 && IsOver(budget_)) return;
      replicas[r] = OfReplica(between_, meetings_, r);
      for (const Meeting& end : ends) {
        replicas[r] += OfReplica(end.alike, {&end, 1}, r);
      }
    }
    const HazardTable hazard(common);
    result_.latest = std::make_shared<TailLaw>(
        Barrier(replicas, BinsOf(replicas, common, hazard), common, hazard));
  }

  // With loads, the replicas that are not far behind the largest load.
  double CountNearLargest() const {
    const double replicas = graph_.grid.replicas;
    const double compute = result_.own_moments.compute_mean;
    if (compute <= 0) return replicas;
    const double largest = setting_.load->Quantile(
        std::clamp(1 - 0.56 / replicas, 1e-6, 1 - 1e-12));
    const double near =
        largest - 1.5 * std::sqrt(result_.own.variance()) / compute;
    return std::clamp(replicas * (1 - setting_.load->Cdf(near)), 1.0, replicas);
  }

  void SetCopula() {
    const double first = first_.variance(1), last = last_.variance(1);
    const double between = between_.variance(1);
    const double all = first + between + last;
    if (all <= 0) return;
    const double count = std::max(1.0, likely_);
    double apart = CorrelationOfMaxima(count, between / all);
    double same_first = CorrelationOfMaxima(count, (between + first) / all);
    double same_last = CorrelationOfMaxima(count, (between + last) / all);
    if (!IsNearNormal(result_.own.cumulants())) {
      same_last = CorrelationByLatest(true, false);
      same_first = CorrelationByLatest(false, true);
      // One replica's entries are sums of a first, a shared and a last part;
      // maxima over many forget the sum and act as if by steps.
      const double sum = std::max(0.0, same_first + same_last - 1);
      apart = sum / count + (1 - 1 / count) * same_first * same_last;
    }
    MeetingCopula& copula = result_.copula;
    copula.common = std::sqrt(apart);
    copula.same_first = std::sqrt(std::max(0.0, same_first - apart));
    copula.same_last = std::sqrt(std::max(0.0, same_last - apart));
    const double shared = same_first + same_last - apart;
    if (shared > 1) {
      // Three pairwise correlations that no common scores have: keep the
      // proportions.
      const double fit =
          std::sqrt((1 - apart) / (same_first + same_last - 2 * apart));
      copula.same_first *= fit;
      copula.same_last *= fit;
    }
    copula.own = std::sqrt(std::max(0.0, 1 - shared));
  }

  struct Part {
    TailLaw law;
    double count = 1;
    StretchStall::Place place = StretchStall::Place::kShared;
    bool is_network = false;
  };

  const StepGraph& graph_;
  const Stretch& stretch_;
  const StretchSetting& setting_;
  TailLawCache& cache_;
  const base::Budget& budget_;
  StretchLaw result_;
  std::vector<Part> parts_;
  std::vector<Meeting> meetings_;
  WorkMoments first_, between_, last_;
  double likely_ = 1;
  int barriers_ = 0;
};

}  // namespace

const TailLaw& TailLawCache::Get(int distribution) {
  auto& law = law_[distribution];
  if (law == nullptr) {
    law = std::make_unique<TailLaw>(
        TailLaw::Of(graph_.distributions[distribution]));
  }
  return *law;
}

std::optional<double> StretchStall::ExcessAt(double score) const {
  const double above = -LogNormalCdf(score) / expected;
  if (above >= 1) return std::nullopt;
  return seconds.AtHazard(-std::log1p(-above)) - typical;
}

std::optional<StretchLaw> BuildStretchLaw(const StepGraph& graph,
                                          const Stretch& stretch,
                                          const StretchSetting& setting,
                                          TailLawCache& cache,
                                          const base::Budget& budget) {
  return StretchBuilder(graph, stretch, setting, cache, budget).Build();
}

}  // namespace prism::step
