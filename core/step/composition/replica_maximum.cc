#include "core/step/composition/replica_maximum.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <utility>

#include "core/stats/normal.h"
#include "core/step/composition/score_law.h"
#include "core/step/composition/score_shape.h"

namespace prism::step {
namespace {

// Kinds whose share of the chance to be last is below this are left out.
constexpr double kNegligibleShare = 1e-5;
constexpr int64_t kPilotPairs = 256;
constexpr int64_t kFewestPilotPairs = 2;
// Pairs that every kind gets which is not left out.
constexpr int64_t kFewestPairs = 4;
// Weight, in samples, of the pooled variance in a kind's own.
constexpr double kPooledWeight = 64;
// The fitted law may be off by this share of a deviation plus this many errors
// of the sample.
constexpr double kMisfit = 0.06;
constexpr double kSamplingErrors = 4.5;
// Strata of rare stalls: none, one, two or more.
constexpr int kStrata = 3;
constexpr int kBatches = 16;

// First samples of the streams of the pilot, the main part and the strata.
constexpr uint32_t kStreamsOf[] = {0, 1u << 24, 2u << 24, 3u << 24};

// Pairs with their ends, in the order they were simulated.
struct SampleSet {
  std::vector<ReplicaPair> pairs;
  // [stage][pair][itself, its mirror image], deviations from nominal.
  std::vector<std::vector<float>> ends;
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

// Moments of standardised deviations in one part of the samples.
struct Batch {
  double samples = 0;
  double mean = 0;
  double deviation = 1;
  double cube_raw = 0;
  double fourth = 0;
  double cube = 0;  // less what a shifted mean adds
};

struct StageFit {
  std::vector<KindLaw> kinds;
  ScoreShape shape;
  std::array<Batch, kBatches> batches;
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
      // A quarter for each number of stalls is plenty: their spread is that of
      // the stall, which counts far out only.
      const int64_t wanted = stratum == 0 ? samples : samples / 4;
      if (!ExtendStratum(stratum, (wanted + 1) / 2, budget, executor)) {
        return absl::CancelledError("cancelled");
      }
    }
    return absl::OkStatus();
  }

  std::vector<MaximumLaw> Laws(const std::vector<bool>& needed) const {
    std::vector<MaximumLaw> laws(model_.stages);
    for (int stage = 0; stage < model_.stages; ++stage) {
      if (needed[stage]) laws[stage] = LawOfStage(stage);
    }
    return laws;
  }

  bool Fits(const std::vector<bool>& needed) const {
    for (int stage = 0; stage < model_.stages; ++stage) {
      if (needed[stage] && !FitsAt(stage)) return false;
    }
    return true;
  }

  stats::Moments EndOfStage(int stage) const {
    const std::vector<double> ends(main().ends[stage].begin(),
                                   main().ends[stage].end());
    stats::Moments moments = stats::SampleMoments(ends);
    moments.mean += model_.nominal_end[stage];
    return moments;
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
    const size_t block = ReplicaSampler::kBlock;
    const size_t missing = set.pairs.size() - first;
    const int blocks = static_cast<int>((missing + block - 1) / block);
    std::atomic<int> next{0};
    std::atomic<bool> complete{true};
    executor.ParallelFor(std::min(executor.concurrency(), blocks), [&](int) {
      ReplicaSampler sampler(model_, request_.factors, request_.random_key);
      for (int b = next++; b < blocks && complete; b = next++) {
        const size_t begin = first + b * block;
        const size_t size = std::min(block, set.pairs.size() - begin);
        std::vector<float*> ends;
        for (auto& stage : set.ends) ends.push_back(&stage[2 * begin]);
        if (!sampler.Run({&set.pairs[begin], size}, budget, ends)) {
          complete = false;
        }
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

  // The share of each kind in the chance of lying beyond the median of the
  // maximum.
  void Weigh(const std::vector<double>& mean, double sd) {
    const auto [lowest, highest] =
        std::minmax_element(mean.begin(), mean.end());
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
      const int64_t wanted = PairsOf(k, pairs);
      for (int64_t& i = set.drawn[k]; i < wanted; ++i) {
        set.pairs.push_back(
            {k, kStreamsOf[stratum + 1] + static_cast<uint32_t>(i), stratum});
      }
    }
    return Simulate(set, budget, executor);
  }

  // Number of the draws that sample i of the main part saw.
  size_t DrawOf(size_t i) const {
    return 2 * size_t(main().pairs[i / 2].sample - kStreamsOf[1]) + i % 2;
  }

  // What the leader made of each draw.
  std::vector<double> LeaderEnds(int stage) const {
    std::vector<double> ends(2 * size_t(main().drawn[leader_]));
    for (size_t i = 0; i < main().size(); ++i) {
      if (main().kind(i) == leader_) ends[DrawOf(i)] = EndOf(main(), i, stage);
    }
    return ends;
  }

  // Compares the share of the leader's samples below quantiles of the fitted
  // law with what it should be, at scores up to 2.5.
  bool FitsAt(int stage) const {
    StageFit fit;
    fit.kinds.resize(kinds());
    const std::vector<double> ends = LeaderEnds(stage);
    FitLeader(ends, fit);
    FitShape(ends, fit);
    const KindLaw& law = fit.kinds[leader_];
    if (law.sd <= 1e-9 * model_.nominal_end[stage]) return true;
    if (!KeepsKurtosis(fit)) return false;
    for (double z = -2.5; z <= 2.5; z += 0.5) {
      const double level = law.mean + law.sd * fit.shape.At(z);
      const double below = static_cast<double>(std::count_if(
          ends.begin(), ends.end(), [&](double x) { return x <= level; }));
      const double n = static_cast<double>(ends.size());
      const double p = stats::NormalCdf(z);
      const double allowed = kSamplingErrors * std::sqrt(p * (1 - p) / n) +
                             kMisfit * stats::NormalDensity(z);
      if (std::abs(below / n - p) > allowed) return false;
    }
    return true;
  }

  StageFit Fit(int stage) const {
    StageFit fit;
    fit.kinds.resize(kinds());
    const std::vector<double> leader = LeaderEnds(stage);
    FitLeader(leader, fit);
    FitShape(leader, fit);
    FitOthers(stage, leader, fit);
    return fit;
  }

  void FitLeader(const std::vector<double>& ends, StageFit& fit) const {
    const stats::Moments moments = stats::SampleMoments(ends);
    fit.kinds[leader_] = {double(request_.kinds[leader_].count), moments.mean,
                          moments.standard_deviation};
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
  void FitOthers(int stage, const std::vector<double>& leader,
                 StageFit& fit) const {
    const KindLaw& lead = fit.kinds[leader_];
    std::vector<Comparison> all(kinds());
    for (size_t i = 0; i < main().size(); ++i) {
      const int k = main().kind(i);
      if (k == leader_) continue;
      // Around the leader's mean, so that no digits are lost.
      const double x = EndOf(main(), i, stage) - lead.mean;
      const double l = leader[DrawOf(i)] - lead.mean;
      Comparison& c = all[k];
      c.n += 1;
      c.sum += x;
      c.squares += x * x;
      c.leader_sum += l;
      c.leader_squares += l * l;
      c.product += x * l;
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

  // Skewness of the leader's deviations, drawn to that of a normal by its own
  // uncertainty, which batches tell, and kurtosis, drawn to the lognormal's.
  void FitShape(const std::vector<double>& ends, StageFit& fit) const {
    const KindLaw& law = fit.kinds[leader_];
    for (Batch& batch : fit.batches) batch = {0, 0, 0, 0, 0, 0};
    if (law.sd <= 0) return;
    for (size_t i = 0; i < ends.size(); ++i) {
      const double y = (ends[i] - law.mean) / law.sd;
      Batch& batch = fit.batches[i / 2 % kBatches];
      batch.samples += 1;
      batch.mean += y;
      batch.deviation += y * y;
      batch.cube_raw += y * y * y;
      batch.fourth += y * y * y * y;
    }
    for (Batch& batch : fit.batches) {
      const double n = std::max(batch.samples, 1.0);
      batch.mean /= n;
      batch.deviation = std::sqrt(batch.deviation / n);
      batch.cube_raw /= n;
      batch.fourth /= n;
    }
    const double skew = Shrunk(fit, &Batch::cube_raw, 0);
    const double own = ScoreShape::LognormalKurtosis(skew);
    fit.shape = ScoreShape(skew, own + Shrunk(fit, &Batch::fourth, 3 + own));
    // A third moment of 3 y belongs to the mean, not to the skewness.
    for (Batch& batch : fit.batches) {
      batch.cube = batch.cube_raw - 3 * batch.mean;
    }
  }

  struct Estimate {
    double value = 0;
    double variance = 0;
  };

  // A moment less `origin`, over the batches.
  static Estimate OverBatches(const StageFit& fit, double Batch::*moment,
                              double origin) {
    double mean = 0, squares = 0;
    for (const Batch& batch : fit.batches) {
      mean += (batch.*moment - origin) / kBatches;
    }
    for (const Batch& batch : fit.batches) {
      const double off = batch.*moment - origin - mean;
      squares += off * off;
    }
    return {mean, squares / (kBatches * (kBatches - 1))};
  }

  static double Shrunk(const StageFit& fit, double Batch::*moment,
                       double origin) {
    const Estimate e = OverBatches(fit, moment, origin);
    const double signal = std::max(0.0, e.value * e.value - e.variance);
    return signal > 0 ? e.value * signal / (signal + e.variance) : 0.0;
  }

  // Whether the kurtosis may be one that the shape can take.
  static bool KeepsKurtosis(const StageFit& fit) {
    const double own =
        ScoreShape::LognormalKurtosis(Shrunk(fit, &Batch::cube_raw, 0));
    const Estimate rest = OverBatches(fit, &Batch::fourth, 3 + own);
    const double error = kSamplingErrors * std::sqrt(rest.variance);
    return rest.value + error >= ScoreShape::kLeastKurtosis &&
           rest.value - error <= ScoreShape::kMostKurtosis;
  }

  // Deviations of a stratum from the means of its kinds, ascending.
  std::vector<double> StallDeviations(int stratum, int stage,
                                      const StageFit& fit) const {
    std::vector<double> off;
    const SampleSet& set = strata_[stratum];
    for (size_t i = 0; i < set.size(); ++i) {
      off.push_back(EndOf(set, i, stage) - fit.kinds[set.kind(i)].mean);
    }
    std::sort(off.begin(), off.end());
    return off;
  }

  // Never quite 1: beyond the longest something is still possible.
  static double EmpiricalCdf(const std::vector<double>& sorted, double x) {
    const auto above = std::upper_bound(sorted.begin(), sorted.end(), x);
    return static_cast<double>(above - sorted.begin()) /
           (static_cast<double>(sorted.size()) + 1);
  }

  MaximumLaw LawOfStage(int stage) const {
    const StageFit fit = Fit(stage);
    MaximumLaw law = model_.expected_stalls == 0 && kinds() == 1
                         ? OneKind(fit)
                         : SeveralKinds(stage, fit);
    for (double& seconds : law.seconds) seconds += model_.nominal_end[stage];
    AddErrors(fit, law);
    return law;
  }

  static MaximumLaw OneKind(const StageFit& fit) {
    const KindLaw& kind = fit.kinds[0];
    MaximumLaw law;
    for (int node = 0; node < MaximumLaw::kNodes; ++node) {
      const double score =
          ScoreOfOneAmong(kind.count, MaximumLaw::NodeScore(node));
      law.seconds.push_back(kind.mean + kind.sd * fit.shape.At(score));
    }
    return law;
  }

  // Tabulates log P(maximum <= x) over a grid and reads it backwards.
  MaximumLaw SeveralKinds(int stage, const StageFit& fit) const {
    std::array<std::vector<double>, kStrata> stalled;
    double low = INFINITY, high = -INFINITY, end = -INFINITY;
    for (const KindLaw& kind : fit.kinds) {
      if (kind.count == 0) continue;
      low = std::min(low, kind.mean - 6 * kind.sd);
      high = std::max(high, kind.mean + 7 * kind.sd);
    }
    end = high;
    if (model_.expected_stalls > 0) {
      for (int i = 1; i < kStrata; ++i) {
        stalled[i] = StallDeviations(i, stage, fit);
        if (!stalled[i].empty()) end = std::max(end, high + stalled[i].back());
      }
    }
    constexpr int kCells = 256;
    std::vector<double> grid, log_p;
    for (int i = 0; i <= kCells; ++i) {
      grid.push_back(low + (high - low) * i / kCells);
    }
    for (int i = 1; end > high && i <= kCells; ++i) {
      grid.push_back(high + (end - high) * i / kCells);
    }
    const ShapeTable shape(fit.shape);
    for (double x : grid) log_p.push_back(LogCdf(fit, shape, stalled, x));
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

  // log F of the standardised law that all kinds share, once for all of them.
  class ShapeTable {
   public:
    explicit ShapeTable(const ScoreShape& shape) {
      for (int i = 0; i <= kCells; ++i) {
        log_cdf_.push_back(LogNormalCdf(shape.Inverse(kLow + i * kStep)));
      }
    }

    double LogCdf(double y) const {
      const double position =
          std::clamp((y - kLow) / kStep, 0.0, kCells - 1e-9);
      const int cell = static_cast<int>(position);
      return log_cdf_[cell] +
             (position - cell) * (log_cdf_[cell + 1] - log_cdf_[cell]);
    }

   private:
    static constexpr double kLow = -12, kStep = 1.0 / 32;
    static constexpr int kCells = 32 * 32;
    std::vector<double> log_cdf_;
  };

  double LogCdf(const StageFit& fit, const ShapeTable& shape,
                const std::array<std::vector<double>, kStrata>& stalled,
                double x) const {
    double sum = 0;
    for (const KindLaw& kind : fit.kinds) {
      if (kind.count == 0) continue;
      double log_p = x >= kind.mean ? 0 : -800;
      if (kind.sd > 0) log_p = shape.LogCdf((x - kind.mean) / kind.sd);
      if (model_.expected_stalls == 0) {
        sum += kind.count * log_p;
        continue;
      }
      double p = stratum_[0] * std::exp(log_p);
      for (int i = 1; i < kStrata; ++i) {
        p += stratum_[i] * EmpiricalCdf(stalled[i], x - kind.mean);
      }
      sum += kind.count * std::log(std::max(p, 1e-300));
    }
    return sum;
  }

  // The error of the law at the score of one replica among those that matter:
  // from how mean, deviation and skewness differ between batches.
  void AddErrors(const StageFit& fit, MaximumLaw& law) const {
    // As many equal replicas would matter as much as all do together.
    const double among =
        fit.kinds[leader_].count / std::max(relevance_[leader_], 1e-9);
    for (int node = 0; node < MaximumLaw::kNodes; ++node) {
      const double z = ScoreOfOneAmong(among, MaximumLaw::NodeScore(node));
      double mean = 0, squares = 0;
      std::array<double, kBatches> value;
      for (int b = 0; b < kBatches; ++b) {
        const Batch& batch = fit.batches[b];
        value[b] =
            batch.mean + batch.deviation * z + batch.cube * (z * z - 1) / 6;
        mean += value[b] / kBatches;
      }
      for (double v : value) squares += (v - mean) * (v - mean);
      law.standard_error.push_back(
          fit.kinds[leader_].sd *
          std::sqrt(squares / (kBatches * (kBatches - 1))));
    }
  }

  const PipelineModel& model_;
  const MaximumRequest& request_;
  std::array<double, kStrata> stratum_ = {};
  std::vector<double> relevance_;  // by kind, sums to 1
  int leader_ = 0;                 // the kind that matters most
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

std::vector<MaximumLaw> ReplicaMaximum::Laws(
    const std::vector<bool>& needed) const {
  return sampling_->Laws(needed);
}

bool ReplicaMaximum::Fits(const std::vector<bool>& needed) const {
  return sampling_->Fits(needed);
}

stats::Moments ReplicaMaximum::EndOfStage(int stage) const {
  return sampling_->EndOfStage(stage);
}

namespace {

double Interpolate(const std::vector<double>& values, double score) {
  const double position =
      std::clamp((score + MaximumLaw::kEnd) / MaximumLaw::kStep, 0.0,
                 MaximumLaw::kNodes - 1.000001);
  const int node = static_cast<int>(position);
  const double part = position - node;
  return values[node] + part * (values[node + 1] - values[node]);
}

}  // namespace

double MaximumLaw::At(double score) const {
  return Interpolate(seconds, score);
}

double MaximumLaw::ErrorAt(double score) const {
  return Interpolate(standard_error, score);
}

}  // namespace prism::step
