#include "core/step/composition/replica_maximum.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <utility>

#include "core/stats/normal.h"
#include "core/step/composition/score_law.h"

namespace prism::step {
namespace {

// Kinds whose share of the chance to be last is below this are left out.
constexpr double kNegligibleShare = 1e-5;
constexpr int64_t kPilotPairs = 256;
// Whose longest paths give the weights of the control.
constexpr size_t kTracedPairs = ReplicaSampler::kBlock;
// Replicas for each pair that tells the curvature: a tenth of the time, and the
// error of the one falls with that of the others.
constexpr int64_t kReplicasPerBend = 64;
constexpr uint32_t kTracedStreams = 1u << 23;
constexpr int64_t kFewestPilotPairs = 2;
// Pairs that every kind gets which is not left out.
constexpr int64_t kFewestPairs = 4;
// Weight, in samples, of the pooled variance in a kind's own.
constexpr double kPooledWeight = 64;
// Strata of rare stalls: none, one, two or more.
constexpr int kStrata = 3;
// Replicas in each at least: the quantiles of those that stall are taken as
// they are.
constexpr int64_t kFewestOf[] = {0, 4096, 1024};
// Where log P(maximum <= x) is tabulated, and how closely its ends are found.
constexpr int kCells = 128;
constexpr int kBisections = 8;

// First samples of the streams of the pilot, the main part and the strata.
constexpr uint32_t kStreamsOf[] = {0, 1u << 24, 2u << 24, 3u << 24};

// Pairs of one kind that saw consecutive draws.
struct Run {
  int kind = 0;
  int64_t first_draw = 0;
  size_t first_pair = 0;  // in the sample set
  size_t pairs = 0;
};

// Pairs with their ends, in the order they were simulated.
struct SampleSet {
  std::vector<ReplicaPair> pairs;
  std::vector<Run> runs;  // of `pairs`
  // [stage][pair][itself, its mirror image], deviations from nominal.
  std::vector<std::vector<float>> ends;
  std::vector<float> control;  // by pair, where the weights are known
  std::vector<int64_t> drawn;  // pairs, by kind

  size_t size() const { return 2 * pairs.size(); }
  int kind(size_t i) const { return pairs[i / 2].kind; }
};

// The law of one kind at one stage.
struct KindLaw {
  double count = 0;  // replicas; 0 where the kind is left out
  double mean = 0;
  double sd = 0;
};

struct StageFit {
  std::vector<KindLaw> kinds;
  EndFit end;  // of the leader
};

// P(value <= x) on a uniform grid, linear between.
class GridCdf {
 public:
  // Of `sorted`, ascending; everything is 0 where it is empty. Never quite 1:
  // beyond the longest something is still possible.
  explicit GridCdf(const std::vector<float>& sorted) {
    if (sorted.empty()) return;
    low_ = static_cast<double>(sorted.front());
    const double high = static_cast<double>(sorted.back());
    cells_per_unit_ = high > low_ ? kGridCells / (high - low_) : 0;
    size_t below = 0;
    for (int i = 0; i <= kGridCells; ++i) {
      const double x = low_ + (high - low_) * i / kGridCells;
      while (below < sorted.size() && static_cast<double>(sorted[below]) <= x) {
        ++below;
      }
      p_.push_back(static_cast<double>(below) /
                   (static_cast<double>(sorted.size()) + 1));
    }
  }

  double last() const {
    return cells_per_unit_ > 0 ? low_ + kGridCells / cells_per_unit_ : low_;
  }

  double At(double x) const {
    if (p_.empty() || x < low_) return 0;
    const double position = (x - low_) * cells_per_unit_;
    if (position >= kGridCells) return p_.back();
    const int cell = static_cast<int>(position);
    return p_[cell] + (position - cell) * (p_[cell + 1] - p_[cell]);
  }

 private:
  static constexpr int kGridCells = 1024;
  double low_ = 0, cells_per_unit_ = 0;
  std::vector<double> p_;
};

// log F and F of the standardised law that all kinds share.
class ShapeTable {
 public:
  explicit ShapeTable(const ScoreShape& shape) {
    for (int i = 0; i <= kGridCells; ++i) {
      log_cdf_.push_back(
          TabulatedLogNormalCdf(shape.Inverse(kLow + i * kStep)));
    }
  }

  double LogCdf(double y) const {
    const double position =
        std::clamp((y - kLow) * (1 / kStep), 0.0, kGridCells - 1e-9);
    const int cell = static_cast<int>(position);
    return log_cdf_[cell] +
           (position - cell) * (log_cdf_[cell + 1] - log_cdf_[cell]);
  }

 private:
  static constexpr double kLow = -12, kStep = 1.0 / 16;
  static constexpr int kGridCells = 24 * 16;
  std::vector<double> log_cdf_;
};

}  // namespace

class ReplicaMaximum::Sampling {
 public:
  Sampling(const PipelineModel& model, const MaximumRequest& request)
      : model_(model), request_(request) {
    // Stalls strike independently, so their number is Poisson.
    const double expected = model_.expected_stalls;
    stratum_[0] = std::exp(-expected);
    stratum_[1] = expected * std::exp(-expected);
    stratum_[2] = std::max(0.0, 1 - stratum_[0] - stratum_[1]);
  }

  absl::Status Extend(int64_t samples, const base::Budget& budget,
                      base::Executor& executor) {
    if (relevance_.empty() && !Pilot(budget, executor)) {
      return absl::CancelledError("cancelled");
    }
    for (int stratum = 0; stratum < kStrata; ++stratum) {
      if (stratum > 0 && model_.expected_stalls == 0) break;
      // A quarter for each number of stalls is plenty of many: their spread is
      // that of the stall, which counts far out only.
      const int64_t wanted =
          stratum == 0 ? samples : std::max(samples / 4, kFewestOf[stratum]);
      if (!ExtendStratum(stratum, (wanted + 1) / 2, budget, executor)) {
        return absl::CancelledError("cancelled");
      }
    }
    if (!ExtendCurvature(samples, budget, executor)) {
      return absl::CancelledError("cancelled");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<MaximumLaw>> Laws(
      const std::vector<bool>& needed, const base::Budget& budget) const {
    std::vector<MaximumLaw> laws(model_.stages);
    const EndControl control = LeaderControl();
    for (int stage = 0; stage < model_.stages; ++stage) {
      if (budget.Cancelled()) return absl::CancelledError("cancelled");
      if (needed[stage]) laws[stage] = LawOfStage(stage, control);
    }
    return laws;
  }

  stats::Moments EndOfStage(int stage) const {
    const std::vector<double> ends(main().ends[stage].begin(),
                                   main().ends[stage].end());
    stats::Moments moments = stats::SampleMoments(ends);
    moments.mean += model_.nominal_end[stage];
    return moments;
  }

  StageLag LagBehind(int lead, int stage) const {
    const double nominal = model_.nominal_end[lead] - model_.nominal_end[stage];
    const auto lag_of = [&](const SampleSet& set, size_t i) {
      return nominal + EndOf(set, i, lead) - EndOf(set, i, stage);
    };
    std::vector<double> sum(kinds(), 0.0), squares(kinds(), 0.0);
    for (size_t i = 0; i < main().size(); ++i) {
      const double lag = lag_of(main(), i) - nominal;
      sum[main().kind(i)] += lag;
      squares[main().kind(i)] += lag * lag;
    }
    StageLag result{
        .mean = INFINITY, .deviation = 0, .least_stalled = INFINITY};
    double within = 0;
    for (int k = 0; k < kinds(); ++k) {
      const double n = 2 * static_cast<double>(main().drawn[k]);
      if (n == 0) continue;
      result.mean = std::min(result.mean, nominal + sum[k] / n);
      within += std::max(0.0, squares[k] - sum[k] * sum[k] / n);
    }
    result.deviation = std::sqrt(within / static_cast<double>(main().size()));
    for (int stratum = 1; stratum < kStrata; ++stratum) {
      const SampleSet& set = strata_[stratum];
      for (size_t i = 0; i < set.size(); ++i) {
        result.least_stalled = std::min(result.least_stalled, lag_of(set, i));
      }
    }
    return result;
  }

 private:
  const SampleSet& main() const { return strata_[0]; }
  int kinds() const { return static_cast<int>(request_.kinds.size()); }

  double EndOf(const SampleSet& set, size_t i, int stage) const {
    return set.ends[stage][i];
  }

  // Simulates what `set` lacks ends for.
  bool Simulate(SampleSet& set, const base::Budget& budget,
                base::Executor& executor) const {
    set.ends.resize(model_.stages);
    const size_t first = set.ends[0].size() / 2;
    for (auto& ends : set.ends) ends.resize(set.size());
    set.control.resize(set.pairs.size());
    const size_t block = ReplicaSampler::kBlock;
    const size_t missing = set.pairs.size() - first;
    const auto simulate = [&](ReplicaSampler& sampler, size_t b) {
      const size_t begin = first + b * block;
      const size_t size = std::min(block, set.pairs.size() - begin);
      std::vector<float*> ends;
      for (auto& stage : set.ends) ends.push_back(&stage[2 * begin]);
      const std::span<const ReplicaPair> pairs(&set.pairs[begin], size);
      return weights_.load.empty()
                 ? sampler.Run(pairs, budget, ends)
                 : sampler.RunControlled(pairs, weights_, budget, ends,
                                         &set.control[begin]);
    };
    return ForBlocks(0, (missing + block - 1) / block, executor, simulate);
  }

  // Calls body(sampler, b) for b from `first` up to `last`, in any order, until
  // one is false; whether none was.
  bool ForBlocks(
      size_t first, size_t last, base::Executor& executor,
      const std::function<bool(ReplicaSampler&, size_t)>& body) const {
    std::atomic<size_t> next{first};
    std::atomic<bool> complete{true};
    const int blocks = static_cast<int>(last - first);
    executor.ParallelFor(std::min(executor.concurrency(), blocks), [&](int) {
      ReplicaSampler sampler(model_, request_.factors, request_.random_key);
      for (size_t b = next++; b < last && complete; b = next++) {
        if (!body(sampler, b)) complete = false;
      }
    });
    return complete;
  }

  // Where there are several kinds, a first look at which can be last. All kinds
  // see the same draws, so that they differ by their factors alone.
  bool Pilot(const base::Budget& budget, base::Executor& executor) {
    relevance_.assign(kinds(), 1.0);
    if (kinds() > 1) {
      const int64_t each = std::max(kFewestPilotPairs, kPilotPairs / kinds());
      SampleSet pilot;
      for (int k = 0; k < kinds(); ++k) {
        for (int64_t i = 0; i < each; ++i) {
          pilot.pairs.push_back({k, static_cast<uint32_t>(i), 0});
        }
      }
      if (!Simulate(pilot, budget, executor)) return false;
      WeighByPilot(pilot, 2 * static_cast<double>(each));
    }
    SetAside();
    return Trace(budget);
  }

  // Pairs of the leader, apart from those of its law.
  std::vector<ReplicaPair> TracedPairs(size_t block) const {
    std::vector<ReplicaPair> pairs;
    for (size_t i = 0; i < kTracedPairs; ++i) {
      pairs.push_back(
          {leader_,
           kTracedStreams + static_cast<uint32_t>(block * kTracedPairs + i),
           0});
    }
    return pairs;
  }

  // Room for what a block of them makes of the stages.
  struct TracedEnds {
    explicit TracedEnds(int stages)
        : of(stages, std::vector<float>(2 * kTracedPairs)) {
      for (auto& stage : of) to.push_back(stage.data());
    }
    std::vector<std::vector<float>> of;  // by stage
    std::vector<float*> to;
  };

  // Where the longest paths of the leader run.
  bool Trace(const base::Budget& budget) {
    ReplicaSampler sampler(model_, request_.factors, request_.random_key);
    const TracedEnds ends(model_.stages);
    CriticalPaths paths(model_);
    if (!sampler.RunTraced(TracedPairs(0), request_.closing_mean, budget,
                           ends.to, paths)) {
      return false;
    }
    weights_ = paths.Weights();
    return true;
  }

  bool ExtendCurvature(int64_t samples, const base::Budget& budget,
                       base::Executor& executor) {
    const auto pairs = static_cast<size_t>(samples / kReplicasPerBend);
    const size_t blocks =
        std::max<size_t>(1, (pairs + kTracedPairs - 1) / kTracedPairs);
    const size_t known = bends_.size();
    if (blocks <= known) return true;
    bends_.resize(blocks);
    if (!ForBlocks(known, blocks, executor,
                   [&](ReplicaSampler& sampler, size_t block) {
                     return TakeBends(sampler, block, budget);
                   })) {
      return false;
    }
    curvature_.assign(model_.stages, {});
    for (const auto& bends : bends_) {
      for (int s = 0; s < model_.stages; ++s) {
        for (int b = 0; b < EndControl::kBatches; ++b) {
          curvature_[s][b] += bends[s][b] / static_cast<double>(blocks);
        }
      }
    }
    return true;
  }

  // E[(c^2 - 1) end] by Gauss and Hermite's rule with three nodes of the
  // control: of replicas that differ in it alone, so little is left to chance.
  bool TakeBends(ReplicaSampler& sampler, size_t block,
                 const base::Budget& budget) {
    auto& bends = bends_[block];
    bends.assign(model_.stages, {});
    const std::vector<ReplicaPair> pairs = TracedPairs(block);
    std::vector<float> control(pairs.size());
    sampler.DrawControl(pairs, weights_, control.data());
    const TracedEnds ends(model_.stages);
    const double each = static_cast<double>(2 * pairs.size()) /
                        static_cast<double>(EndControl::kBatches);
    for (const int node : {-1, 0, 1}) {
      const auto at = static_cast<float>(node * std::sqrt(3.0));
      const double weight = node == 0 ? -2.0 / 3 : 1.0 / 3;
      if (!sampler.RunMoved(pairs, weights_, control.data(), at, budget,
                            ends.to)) {
        return false;
      }
      for (int s = 0; s < model_.stages; ++s) {
        for (size_t i = 0; i < 2 * pairs.size(); ++i) {
          bends[s][i / 2 % EndControl::kBatches] +=
              weight * double{ends.of[s][i]} / each;
        }
      }
    }
    return true;
  }

  void WeighByPilot(const SampleSet& pilot, double each) {
    std::vector<double> end(pilot.size()), mean(kinds(), 0.0);
    for (size_t i = 0; i < end.size(); ++i) {
      end[i] = -INFINITY;
      for (int s = 0; s < model_.stages; ++s) {
        end[i] = std::max(end[i], EndOf(pilot, i, s) + model_.nominal_end[s] +
                                      request_.closing_mean[s]);
      }
      mean[pilot.kind(i)] += end[i] / each;
    }
    double squares = 0;
    for (size_t i = 0; i < end.size(); ++i) {
      const double off = end[i] - mean[pilot.kind(i)];
      squares += off * off;
    }
    const double freedom = static_cast<double>(end.size()) - kinds();
    // A little wider than estimated, for the error of the means.
    const double sd =
        1.1 * std::sqrt(squares / std::max(freedom, 1.0)) + 1e-12 * mean[0];
    Weigh(mean, sd);
  }

  // Shares where nothing is left to chance: the longest kinds are last.
  void WeighByLength(const std::vector<double>& mean, double longest) {
    double sum = 0;
    for (int k = 0; k < kinds(); ++k) {
      const auto count = static_cast<double>(request_.kinds[k].count);
      relevance_[k] = mean[k] == longest ? count : 0;
      sum += relevance_[k];
    }
    for (double& r : relevance_) r /= sum;
  }

  // The share of each kind in the chance of lying beyond the median of the
  // maximum.
  void Weigh(const std::vector<double>& mean, double sd) {
    const auto [lowest, highest] =
        std::minmax_element(mean.begin(), mean.end());
    if (!(sd > 0)) {
      WeighByLength(mean, *highest);
      return;
    }
    double low = *lowest - 8 * sd, high = *highest + 8 * sd;
    for (int i = 0; i < 40; ++i) {
      const double middle = (low + high) / 2;
      double log_p = 0;
      for (int k = 0; k < kinds(); ++k) {
        log_p +=
            request_.kinds[k].count * LogNormalCdf((middle - mean[k]) / sd);
      }
      (log_p < std::log(0.5) ? low : high) = middle;
    }
    double sum = 0;
    for (int k = 0; k < kinds(); ++k) {
      relevance_[k] =
          request_.kinds[k].count * stats::NormalCdf((mean[k] - high) / sd);
      sum += relevance_[k];
    }
    for (double& r : relevance_) r /= sum;
  }

  // Leaves out what cannot matter; the kind that matters most leads.
  void SetAside() {
    double sum = 0;
    for (double& r : relevance_) {
      if (r < kNegligibleShare) r = 0;
      sum += r;
    }
    for (double& r : relevance_) r /= sum;
    leader_ = static_cast<int>(
        std::max_element(relevance_.begin(), relevance_.end()) -
        relevance_.begin());
    const double among =
        request_.kinds[leader_].count / std::max(relevance_[leader_], 1e-9);
    for (int node = 0; node < MaximumLaw::kNodes; ++node) {
      one_among_.push_back(ScoreOfOneAmong(among, MaximumLaw::NodeScore(node)));
    }
  }

  // Pairs of each kind among `pairs`. The leader gets half of them at least: it
  // tells the law that all kinds share. The others see the first of its draws,
  // the more of them the more they matter, and tell how they differ from it.
  int64_t PairsOf(int kind, int64_t pairs) const {
    const auto all = static_cast<double>(pairs);
    const double lead = std::max(0.5, relevance_[leader_]);
    if (kind == leader_) {
      return std::max(static_cast<int64_t>(std::ceil(all * lead)),
                      kFewestPairs);
    }
    if (relevance_[kind] == 0) return 0;
    const double share = relevance_[kind] / (1 - relevance_[leader_]);
    return std::clamp(static_cast<int64_t>(std::ceil(all * (1 - lead) * share)),
                      kFewestPairs, PairsOf(leader_, pairs));
  }

  bool ExtendStratum(int stratum, int64_t pairs, const base::Budget& budget,
                     base::Executor& executor) {
    SampleSet& set = strata_[stratum];
    set.drawn.resize(kinds(), 0);
    for (int k = 0; k < kinds(); ++k) {
      int64_t& drawn = set.drawn[k];
      const int64_t wanted = PairsOf(k, pairs);
      if (wanted <= drawn) continue;
      set.runs.push_back(
          {k, drawn, set.pairs.size(), static_cast<size_t>(wanted - drawn)});
      for (; drawn < wanted; ++drawn) {
        set.pairs.push_back(
            {k, kStreamsOf[stratum + 1] + static_cast<uint32_t>(drawn),
             stratum});
      }
    }
    return Simulate(set, budget, executor);
  }

  // What the leader made of each draw and its mirror image; `ends` is room for
  // it.
  std::span<const float> LeaderEnds(int stage, std::vector<float>& ends) const {
    if (kinds() == 1) return main().ends[stage];
    ends.reserve(2 * static_cast<size_t>(main().drawn[leader_]));
    for (const Run& run : main().runs) {
      if (run.kind != leader_) continue;
      const auto first = main().ends[stage].begin() + 2 * run.first_pair;
      ends.insert(ends.end(), first, first + 2 * run.pairs);
    }
    return ends;
  }

  EndControl LeaderControl() const {
    std::vector<float> control;
    for (const Run& run : main().runs) {
      if (run.kind != leader_) continue;
      const auto first = main().control.begin() + run.first_pair;
      control.insert(control.end(), first, first + run.pairs);
    }
    return EndControl(control);
  }

  StageFit Fit(int stage, const EndControl& control) const {
    StageFit fit;
    fit.kinds.resize(kinds());
    std::vector<float> room;
    const std::span<const float> leader = LeaderEnds(stage, room);
    fit.end = EndFit(leader, &control, &curvature_[stage]);
    fit.kinds[leader_] = {double(request_.kinds[leader_].count), fit.end.mean(),
                          fit.end.deviation()};
    FitOthers(stage, leader, fit);
    return fit;
  }

  // What one kind and the leader made of the same draws.
  struct Comparison {
    double n = 0;
    double sum = 0, squares = 0;                // of the kind
    double leader_sum = 0, leader_squares = 0;  // of the leader
    double product = 0;
  };

  // The other kinds are compared with the leader on the draws they share: their
  // mean by a control variate, their deviation by its ratio.
  void FitOthers(int stage, std::span<const float> leader,
                 StageFit& fit) const {
    if (kinds() == 1) return;
    const KindLaw lead = fit.kinds[leader_];
    std::vector<Comparison> all(kinds());
    for (const Run& run : main().runs) {
      if (run.kind == leader_) continue;
      const float* own = &main().ends[stage][2 * run.first_pair];
      const float* leads = &leader[2 * run.first_draw];
      Comparison& c = all[run.kind];
      c.n += 2 * static_cast<double>(run.pairs);
      for (size_t i = 0; i < 2 * run.pairs; ++i) {
        // Around the leader's mean, so that no digits are lost.
        const double x = static_cast<double>(own[i]) - lead.mean;
        const double l = static_cast<double>(leads[i]) - lead.mean;
        c.sum += x;
        c.squares += x * x;
        c.leader_sum += l;
        c.leader_squares += l * l;
        c.product += x * l;
      }
    }
    const double slope = ControlSlope(all);
    for (int k = 0; k < kinds(); ++k) {
      const Comparison& c = all[k];
      if (c.n == 0) continue;
      const double pull = kPooledWeight * lead.sd * lead.sd;
      const double own = c.squares - c.sum * c.sum / c.n + pull;
      const double leaders =
          c.leader_squares - c.leader_sum * c.leader_sum / c.n + pull;
      fit.kinds[k] = {
          double(request_.kinds[k].count),
          lead.mean + (c.sum - slope * c.leader_sum) / c.n,
          leaders > 0 ? lead.sd * std::sqrt(own / leaders) : lead.sd};
    }
  }

  // How much of the leader's deviation the other kinds share.
  static double ControlSlope(const std::vector<Comparison>& all) {
    double both = 0, own = 0;
    for (const Comparison& c : all) {
      if (c.n == 0) continue;
      both += c.product - c.sum * c.leader_sum / c.n;
      own += c.leader_squares - c.leader_sum * c.leader_sum / c.n;
    }
    return own > 0 ? std::clamp(both / own, 0.0, 1.0) : 0;
  }

  // Deviations of a stratum from the means of its kinds.
  GridCdf StallDeviations(int stratum, int stage, const StageFit& fit) const {
    std::vector<float> off;
    const SampleSet& set = strata_[stratum];
    for (size_t i = 0; i < set.size(); ++i) {
      off.push_back(static_cast<float>(EndOf(set, i, stage) -
                                       fit.kinds[set.kind(i)].mean));
    }
    hwy::Sorter()(off.data(), off.size(), hwy::SortAscending());
    return GridCdf(off);
  }

  MaximumLaw LawOfStage(int stage, const EndControl& control) const {
    const StageFit fit = Fit(stage, control);
    MaximumLaw law = model_.expected_stalls == 0 && kinds() == 1
                         ? OneKind(fit)
                         : SeveralKinds(stage, fit);
    for (double& seconds : law.seconds) seconds += model_.nominal_end[stage];
    AddErrors(fit, law);
    return law;
  }

  MaximumLaw OneKind(const StageFit& fit) const {
    const KindLaw& kind = fit.kinds[0];
    MaximumLaw law;
    for (const double score : one_among_) {
      law.seconds.push_back(kind.mean + kind.sd * fit.end.shape().At(score));
    }
    return law;
  }

  // Tabulates log P(maximum <= x) over a grid and reads it backwards.
  MaximumLaw SeveralKinds(int stage, const StageFit& fit) const {
    std::vector<GridCdf> stalled;
    double low = INFINITY, high = -INFINITY;
    for (const KindLaw& kind : fit.kinds) {
      if (kind.count == 0) continue;
      low = std::min(low, kind.mean - 6 * kind.sd);
      high = std::max(high, kind.mean + 7 * kind.sd);
    }
    double end = high;
    for (int i = 1; model_.expected_stalls > 0 && i < kStrata; ++i) {
      stalled.push_back(StallDeviations(i, stage, fit));
      end = std::max(end, high + stalled.back().last());
    }
    const ShapeTable shape(fit.end.shape());
    auto log_cdf = [&](double x) { return LogCdf(fit, shape, stalled, x); };
    // Nothing counts that is less likely than the first node.
    double hopeful = high;
    for (int i = 0; i < kBisections; ++i) {
      const double middle = (low + hopeful) / 2;
      (log_cdf(middle) < LogNormalCdf(MaximumLaw::NodeScore(0)) ? low
                                                                : hopeful) =
          middle;
    }
    std::vector<double> grid, log_p;
    for (int i = 0; i <= kCells; ++i) {
      grid.push_back(low + (high - low) * i / kCells);
    }
    for (int i = 1; end > high && i <= kCells; ++i) {
      grid.push_back(high + (end - high) * i / kCells);
    }
    for (double x : grid) log_p.push_back(log_cdf(x));
    return ReadBackwards(grid, log_p);
  }

  static MaximumLaw ReadBackwards(const std::vector<double>& grid,
                                  const std::vector<double>& log_p) {
    MaximumLaw law;
    size_t cell = 0;
    for (int node = 0; node < MaximumLaw::kNodes; ++node) {
      const double target = LogNormalCdf(MaximumLaw::NodeScore(node));
      while (cell + 2 < grid.size() && log_p[cell + 1] < target) ++cell;
      const double rise = log_p[cell + 1] - log_p[cell];
      const double part =
          rise > 0 ? std::clamp((target - log_p[cell]) / rise, 0.0, 1.0) : 1;
      law.seconds.push_back(grid[cell] + part * (grid[cell + 1] - grid[cell]));
    }
    return law;
  }

  double LogCdf(const StageFit& fit, const ShapeTable& shape,
                const std::vector<GridCdf>& stalled, double x) const {
    double sum = 0;
    // Of single replicas with stalls: one logarithm for all.
    double product = 1;
    for (const KindLaw& kind : fit.kinds) {
      if (kind.count == 0) continue;
      double log_p = x >= kind.mean ? 0 : -800;
      if (kind.sd > 0) log_p = shape.LogCdf((x - kind.mean) / kind.sd);
      if (stalled.empty()) {
        sum += kind.count * log_p;
        continue;
      }
      double p = stratum_[0] * std::exp(log_p);
      for (size_t i = 0; i < stalled.size(); ++i) {
        p += stratum_[i + 1] * stalled[i].At(x - kind.mean);
      }
      if (kind.count == 1) {
        product *= p;
      } else {
        sum += kind.count * std::log(std::max(p, 1e-300));
      }
    }
    return product == 1 ? sum : sum + std::log(std::max(product, 1e-300));
  }

  // Error and misfit of the law at the score of one replica among those that
  // matter.
  void AddErrors(const StageFit& fit, MaximumLaw& law) const {
    for (const double score : one_among_) {
      law.offsets.push_back(fit.end.OffsetsAt(score));
      law.misfit.push_back(fit.end.MisfitAt(score));
    }
  }

  const PipelineModel& model_;
  const MaximumRequest& request_;
  std::array<double, kStrata> stratum_ = {};
  std::vector<double> relevance_;                 // by kind, sums to 1
  int leader_ = 0;                                // the kind that matters most
  ControlWeights weights_;                        // of the leader's draws
  std::vector<EndControl::Curvature> curvature_;  // of it, by stage
  std::vector<std::vector<EndControl::Curvature>> bends_;  // by block, stage
  // Score of one among so many equal replicas as matter as much as all do, by
  // node of a law.
  std::vector<double> one_among_;
  std::array<SampleSet, kStrata> strata_;
};

ReplicaMaximum::ReplicaMaximum(const PipelineModel& model,
                               const MaximumRequest& request)
    : sampling_(std::make_unique<Sampling>(model, request)) {}

ReplicaMaximum::~ReplicaMaximum() = default;

absl::Status ReplicaMaximum::Extend(int64_t samples, const base::Budget& budget,
                                    base::Executor& executor) {
  return sampling_->Extend(samples, budget, executor);
}

absl::StatusOr<std::vector<MaximumLaw>> ReplicaMaximum::Laws(
    const std::vector<bool>& needed, const base::Budget& budget) const {
  return sampling_->Laws(needed, budget);
}

stats::Moments ReplicaMaximum::EndOfStage(int stage) const {
  return sampling_->EndOfStage(stage);
}

StageLag ReplicaMaximum::LagBehind(int lead, int stage) const {
  return sampling_->LagBehind(lead, stage);
}

MaximumLaw::Place MaximumLaw::PlaceOf(double score) {
  const double position =
      std::clamp((score + kEnd) / kStep, 0.0, kNodes - 1.000001);
  const int node = static_cast<int>(position);
  return {node, position - node};
}

namespace {

double Interpolate(const std::vector<double>& values, double score) {
  const auto [node, part] = MaximumLaw::PlaceOf(score);
  return values[node] + part * (values[node + 1] - values[node]);
}

}  // namespace

double MaximumLaw::ErrorAt(double score) const {
  const auto [node, part] = PlaceOf(score);
  return EndFit::ErrorOf(offsets[part < 0.5 ? node : node + 1]);
}

double MaximumLaw::MisfitAt(double score) const {
  return Interpolate(misfit, score);
}

}  // namespace prism::step
