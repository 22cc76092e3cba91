#include "core/step/composition/sharded_barrier.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/stats/normal.h"
#include "core/step/composition/operation_law.h"

namespace prism::step {
namespace {

// What matters of the upper tail of one replica's work.
constexpr double kOwnTail = 1e-8;
// Replicas whose means differ by less than this times their deviation are one
// bin; those further than kBinEnd deviations behind do not matter.
constexpr double kBinWidth = 0.3;
constexpr double kBinEnd = 10;
// Components of lower weight are stalls where their draws are apart from the
// laws: normal scores would make one stall two.
constexpr double kRareWeight = 0.02;

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

class StretchBuilder {
 public:
  StretchBuilder(const StepGraph& graph, const Stretch& stretch,
                 const StretchSetting& setting, TailLawCache& cache)
      : graph_(graph), stretch_(stretch), setting_(setting), cache_(cache) {}

  std::optional<StretchLaw> Build() {
    result_.meets = !stretch_.meetings.empty() && graph_.grid.lanes > 1;
    if (!HasOneClass()) return std::nullopt;
    AddParts();
    std::vector<RepeatedLaw> terms;
    for (const Part& part : parts_) terms.push_back({&part.law, part.count});
    result_.own = SumOf(terms, kOwnTail);
    result_.own_moments = first_;
    result_.own_moments += between_;
    result_.own_moments += last_;
    SetReplicas();
    SetBarriers();
    if (result_.meets && setting_.needs_copula) SetCopula();
    if (!result_.meets) SetExcess();
    return std::move(result_);
  }

 private:
  // Lanes that meet after the first meeting, all with the same law.
  struct Meeting {
    HazardTable hazard;             // of one lane
    double mean = 0, variance = 0;  // of the latest
    double from = 0, to = 0;        // the latest is between
    double share = 0;               // of its variance that is network
    double count = 1;
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
      if (law.mean() > 0) parts_.push_back({std::move(law), draw.count, place});
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
    const bool apart = result_.meets || setting_.load != nullptr;
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
    const TailLaw sum = SumOf(terms, kOwnTail);
    TailLaw latest = sum.MaximumOf(graph_.grid.lanes);
    const double share =
        sum.variance() > 0 ? lane.network_variance / sum.variance() : 0;
    const double surplus = latest.mean() - sum.mean();
    WorkMoments moments;
    moments.compute_mean =
        (lane.compute_mean + (1 - share) * surplus) * meeting.count;
    moments.network_mean =
        (lane.network_mean + share * surplus) * meeting.count;
    moments.compute_variance = (1 - share) * latest.variance() * meeting.count;
    moments.network_variance = share * latest.variance() * meeting.count;
    between_ += moments;
    if (!graph_.slowdown.empty()) {
      meetings_.push_back({HazardTable(sum), latest.mean(), latest.variance(),
                           sum.AtHazard(9), sum.AtHazard(1e-6), share,
                           meeting.count});
    }
    parts_.push_back(
        {std::move(latest), meeting.count, StretchStall::Place::kShared});
  }

  double Slowdown(int replica, int lane) const {
    return graph_
        .slowdown[static_cast<size_t>(replica) * graph_.grid.lanes + lane];
  }

  // What lies between the first and the last meeting in a replica whose lanes
  // have unlike speeds.
  WorkMoments Between(int replica) const {
    double low = Slowdown(replica, 0), high = low;
    for (int lane = 1; lane < graph_.grid.lanes; ++lane) {
      low = std::min(low, Slowdown(replica, lane));
      high = std::max(high, Slowdown(replica, lane));
    }
    WorkMoments moments = Times(between_, low);
    if (low == high) return moments;
    for (const Meeting& meeting : meetings_) {
      const auto [mean, variance] = LatestLane(meeting, replica, high);
      const double share = (1 - meeting.share) * meeting.count;
      moments.compute_mean += share * (mean - low * meeting.mean);
      moments.compute_variance +=
          share * (variance - low * low * meeting.variance);
    }
    return moments;
  }

  // Mean and variance of the latest lane, from its distribution function.
  std::pair<double, double> LatestLane(const Meeting& meeting, int replica,
                                       double slowest) const {
    constexpr int kCells = 40;
    const double from = slowest * meeting.from;
    const double step = slowest * (meeting.to - meeting.from) / kCells;
    double before = 0, mean = 0, square = 0;
    for (int i = 0; i <= kCells; ++i) {
      double hazard = 0;
      for (int l = 0; l < graph_.grid.lanes; ++l) {
        hazard += meeting.hazard.At((from + i * step) / Slowdown(replica, l));
      }
      const double below = i == kCells ? 1 : std::exp(-hazard);
      const double x = (i - 0.5) * step;
      mean += (below - before) * x;
      square += (below - before) * x * x;
      before = below;
    }
    // The masses sit in the middle of their cells: Sheppard's correction.
    const double variance = square - mean * mean - step * step / 12;
    return {from + mean, std::max(variance, 0.0)};
  }

  void SetReplicas() {
    if (graph_.slowdown.empty()) return;
    const int lanes = graph_.grid.lanes, replicas = graph_.grid.replicas;
    const int entries = result_.meets ? lanes * lanes : lanes;
    result_.replicas.assign(entries, std::vector<WorkMoments>(replicas));
    for (int r = 0; r < replicas; ++r) {
      WorkMoments between;
      if (result_.meets) between = Between(r);
      for (int entry = 0; entry < entries; ++entry) {
        WorkMoments& moments = result_.replicas[entry][r];
        moments = Times(last_, Slowdown(r, entry % lanes));
        if (!result_.meets) continue;
        moments += Times(first_, Slowdown(r, entry / lanes));
        moments += between;
      }
    }
  }

  void SetBarriers() {
    const double replicas = graph_.grid.replicas;
    likely_ = replicas;
    if (setting_.load != nullptr || !result_.replicas.empty()) {
      result_.own_hazard = std::make_shared<HazardTable>(result_.own);
    }
    if (setting_.load != nullptr) {
      likely_ = CountNearLargest();
      return;
    }
    if (result_.replicas.empty()) {
      result_.barrier.push_back(
          std::make_shared<TailLaw>(result_.own.MaximumOf(replicas)));
      return;
    }
    likely_ = 0;
    std::vector<std::vector<Bin>> known;
    for (const auto& moments : result_.replicas) {
      known.push_back(BinsOf(moments));
      const auto same =
          std::find(known.begin(), known.end(), known.back()) - known.begin();
      result_.barrier.push_back(
          same + 1 == std::ssize(known) || known.back().empty()
              ? std::make_shared<TailLaw>(Barrier(moments, known.back()))
              : result_.barrier[same]);
    }
    likely_ = std::max(1.0, likely_ / barriers_);
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

  std::vector<Bin> BinsOf(const std::vector<WorkMoments>& replicas) const {
    double latest = 0, deviation = 0;
    for (const WorkMoments& m : replicas) {
      latest = std::max(latest, m.mean(1));
      deviation = std::max(deviation, std::sqrt(m.variance(1)));
    }
    if (deviation == 0) return {};
    const double own = std::sqrt(result_.own.variance());
    std::vector<Bin> bins(static_cast<size_t>(kBinEnd / kBinWidth) + 1);
    for (const WorkMoments& m : replicas) {
      const auto i = static_cast<size_t>(
          std::min((latest - m.mean(1)) / (deviation * kBinWidth), 1e6));
      if (i >= bins.size()) continue;
      const double scale = std::sqrt(m.variance(1)) / own;
      bins[i].count += 1;
      bins[i].scale += scale;
      bins[i].shift += m.mean(1) - scale * result_.own.mean();
    }
    std::erase_if(bins, [](const Bin& bin) { return bin.count == 0; });
    for (Bin& bin : bins) {
      bin.scale /= bin.count;
      bin.shift /= bin.count;
    }
    return bins;
  }

  TailLaw Barrier(const std::vector<WorkMoments>& replicas,
                  const std::vector<Bin>& bins) {
    ++barriers_;
    if (bins.empty()) {
      double latest = 0;
      for (const auto& m : replicas) latest = std::max(latest, m.mean(1));
      return TailLaw().Affine(1, latest);
    }
    const HazardTable& own = *result_.own_hazard;
    double low = 0, high = 0;
    for (const Bin& bin : bins) {
      low = std::max(low, bin.shift + bin.scale * result_.own.low());
      high = std::max(high, bin.shift + bin.scale * result_.own.high());
    }
    TailLaw law = TailLaw::OfHazard(
        [&](double x) {
          double hazard = 0;
          for (const Bin& bin : bins) {
            hazard += bin.count * own.At((x - bin.shift) / bin.scale);
          }
          return hazard;
        },
        low, high);
    CountLikely(bins, law);
    return law;
  }

  // How many equal replicas would have this maximum.
  void CountLikely(const std::vector<Bin>& bins, const TailLaw& barrier) {
    double all = 0, most = 0;
    for (const Bin& bin : bins) {
      const double hazard =
          result_.own_hazard->At((barrier.mean() - bin.shift) / bin.scale);
      all += bin.count * hazard;
      most = std::max(most, hazard);
    }
    likely_ += most > 0 ? all / most : 1;
  }

  // The sum of the parts of one place; the latest lane's with `latest`.
  TailLaw PlaceSum(StretchStall::Place place, bool latest) const {
    std::vector<RepeatedLaw> terms;
    for (const Part& part : parts_) {
      if (part.place == place) terms.push_back({&part.law, part.count});
    }
    const TailLaw sum = SumOf(terms, kOwnTail);
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
    return CorrelationOfLatest(result_.own.MaximumOf(count), graph_.grid.lanes,
                               SumOf(terms, kOwnTail).MaximumOf(count).mean());
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
  };

  const StepGraph& graph_;
  const Stretch& stretch_;
  const StretchSetting& setting_;
  TailLawCache& cache_;
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
                                          TailLawCache& cache) {
  return StretchBuilder(graph, stretch, setting, cache).Build();
}

double CorrelationOfLatest(const TailLaw& one, int copies,
                           double mean_of_latest) {
  constexpr int kScores = 49;
  constexpr double kStep = 0.25, kEnd = 6;
  constexpr double kShared = 0.5;
  constexpr int kBisections = 8;
  std::array<double, kScores> scores;
  for (int i = 0; i < kScores; ++i) scores[i] = i * kStep - kEnd;
  const std::vector<double> values = one.AtScores(scores);
  // The mean is that of the values, weighted with the density of the largest
  // score; its distribution function conditions on the common score.
  auto mean = [&](double rho) {
    double sum = 0, before = 0;
    for (int i = 0; i < kScores; ++i) {
      double below = 0;
      for (double s = -5; s <= 5; s += kShared) {
        const double cdf = stats::NormalCdf(
            (scores[i] + kStep / 2 - std::sqrt(rho) * s) / std::sqrt(1 - rho));
        below += kShared * stats::NormalDensity(s) * std::pow(cdf, copies);
      }
      sum += values[i] * (below - before);
      before = below;
    }
    return sum / before;
  };
  double low = 0, high = 0.96;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (low + high) / 2;
    (mean(middle) > mean_of_latest ? low : high) = middle;
  }
  return (low + high) / 2;
}

// Hoeffding's formula on the scale of scores: the integral of the joint
// distribution function less the product of its margins. The joint one is a
// power of that of one pair, by conditioning on what the pair shares.
double CorrelationOfMaxima(double count, double rho) {
  if (count <= 1 || rho <= 0) return std::max(rho, 0.0);
  if (rho > 0.98) return rho;
  constexpr int kScores = 25;
  constexpr double kScoreStep = 0.35, kScoreEnd = 4.2;
  // The shared part is integrated in steps well below the width of what it is
  // integrated with.
  constexpr int kShared = 64;
  constexpr double kSharedEnd = 6.4;
  const int shared_nodes = rho > 0.85 ? kShared : kShared / 2;
  const double shared_step = 2 * kSharedEnd / shared_nodes;
  std::array<std::array<double, kShared>, kScores> above;
  std::array<double, kScores> margin, one_above;
  const double own = std::sqrt(1 - rho);
  for (int i = 0; i < kScores; ++i) {
    const double z = i * kScoreStep - kScoreEnd;
    const double x = ScoreOfOneAmong(count, z);
    margin[i] = stats::NormalCdf(z);
    one_above[i] = stats::NormalCdf(-x);
    for (int s = 0; s < shared_nodes; ++s) {
      const double shared = (s + 0.5) * shared_step - kSharedEnd;
      above[i][s] = stats::NormalCdf((std::sqrt(rho) * shared - x) / own);
    }
  }
  std::array<double, kShared> weight;
  for (int s = 0; s < shared_nodes; ++s) {
    weight[s] = shared_step *
                stats::NormalDensity((s + 0.5) * shared_step - kSharedEnd);
  }
  double covariance = 0;
  for (int i = 0; i < kScores; ++i) {
    for (int j = 0; j <= i; ++j) {
      double both = 0;
      for (int s = 0; s < shared_nodes; ++s) {
        both += weight[s] * above[i][s] * above[j][s];
      }
      const double either =
          std::min(one_above[i] + one_above[j] - both, 1 - 1e-16);
      const double joint = std::exp(count * std::log1p(-either));
      covariance += (joint - margin[i] * margin[j]) * (i == j ? 1.0 : 2.0);
    }
  }
  return std::clamp(covariance * kScoreStep * kScoreStep, 0.0, rho);
}

}  // namespace prism::step
