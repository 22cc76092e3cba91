#include "core/step/composition/kind_selection.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/stats/sample_quantiles.h"
#include "core/step/composition/lane_effect.h"

namespace prism::step {
namespace {

// Up to this many kinds are all simulated.
constexpr size_t kAllKinds = 128;
// Of more, this many of the longest, and as many that stand for the others.
constexpr size_t kLongest = 64;
// A kind whose nominal length is this many deviations behind the longest
// cannot be last.
constexpr double kHopelessDeviations = 8;
constexpr int kSpreadPairs = 64;
constexpr size_t kKindsBetweenPolls = 64;

class Selector {
 public:
  Selector(const StepGraph& graph, const PipelineModel& model,
           const std::vector<ReplicaKind>& kinds,
           const std::vector<double>& closing_mean, uint64_t random_key,
           const base::Budget& budget)
      : graph_(graph),
        model_(model),
        kinds_(kinds),
        closing_mean_(closing_mean),
        random_key_(random_key),
        budget_(budget),
        effects_(model.laws, graph.grid.lanes) {}

  // Without a meaning where the budget was cancelled half-way.
  SelectedKinds Select() {
    SelectedKinds selected;
    selected.kinds = kinds_.size() <= kAllKinds ? kinds_ : Representatives();
    for (const ReplicaKind& kind : selected.kinds) {
      if (budget_.Cancelled()) break;
      selected.factors.push_back(ExactFactors(kind));
    }
    return selected;
  }

 private:
  std::span<const double> Slowdowns(const ReplicaKind& kind, int stage) const {
    const RankGrid& grid = graph_.grid;
    const size_t first =
        (static_cast<size_t>(kind.first_replica) * grid.stages + stage) *
        grid.lanes;
    return {&graph_.slowdown[first], static_cast<size_t>(grid.lanes)};
  }

  KindFactors ExactFactors(const ReplicaKind& kind) const {
    std::vector<std::vector<LaneEffect>> effects(model_.stages);
    for (int stage = 0; stage < model_.stages; ++stage) {
      effects[stage].resize(model_.laws.size());
      effects_.Compute(Slowdowns(kind, stage), effects[stage]);
    }
    KindFactors factors;
    for (const auto& [law, stage] : model_.sites) {
      factors.mean.push_back(static_cast<float>(effects[stage][law].mean));
      factors.spread.push_back(static_cast<float>(effects[stage][law].spread));
    }
    return factors;
  }

  KindFactors GuessedFactors(const ReplicaKind& kind) const {
    std::vector<float> of_stage;
    for (int stage = 0; stage < model_.stages; ++stage) {
      of_stage.push_back(
          static_cast<float>(effects_.GuessMean(Slowdowns(kind, stage))));
    }
    KindFactors factors;
    for (const OperationSite& site : model_.sites) {
      factors.mean.push_back(of_stage[site.stage]);
    }
    factors.spread.assign(model_.sites.size(), 1);
    return factors;
  }

  double EndOf(const std::vector<std::vector<float>>& ends, size_t i) const {
    double end = -INFINITY;
    for (int s = 0; s < model_.stages; ++s) {
      end =
          std::max(end, ends[s][i] + model_.nominal_end[s] + closing_mean_[s]);
    }
    return end;
  }

  // When each pair of `pairs` and its mirror image end.
  std::vector<double> Ends(ReplicaSampler& sampler,
                           const std::vector<ReplicaPair>& pairs,
                           bool quiet) const {
    std::vector<std::vector<float>> ends(model_.stages,
                                         std::vector<float>(2 * pairs.size()));
    for (size_t i = 0; i < pairs.size(); i += ReplicaSampler::kBlock) {
      std::vector<float*> to;
      for (auto& stage : ends) to.push_back(&stage[2 * i]);
      const std::span<const ReplicaPair> part(
          &pairs[i], std::min(ReplicaSampler::kBlock, pairs.size() - i));
      if (!(quiet ? sampler.RunQuietly(part, budget_, to)
                  : sampler.Run(part, budget_, to))) {
        break;
      }
    }
    std::vector<double> last;
    for (size_t i = 0; i < 2 * pairs.size(); ++i) {
      last.push_back(EndOf(ends, i));
    }
    return last;
  }

  // Deviation of the end of one replica of the model's own kind.
  double Deviation() const {
    ReplicaSampler sampler(model_, {}, random_key_);
    std::vector<ReplicaPair> pairs;
    for (int i = 0; i < kSpreadPairs; ++i) {
      pairs.push_back({0, static_cast<uint32_t>(i), 0});
    }
    return stats::SampleMoments(Ends(sampler, pairs, false)).standard_deviation;
  }

  // Nominal end of every kind, lanes guessed.
  std::vector<double> NominalEnds() const {
    std::vector<KindFactors> factors;
    std::vector<ReplicaPair> pairs;
    for (size_t k = 0; k < kinds_.size(); ++k) {
      if (k % kKindsBetweenPolls == 0 && budget_.Cancelled()) break;
      factors.push_back(GuessedFactors(kinds_[k]));
      pairs.push_back({static_cast<int>(k), 0, 0});
    }
    ReplicaSampler sampler(model_, factors, random_key_);
    const std::vector<double> both = Ends(sampler, pairs, true);
    std::vector<double> ends(kinds_.size(), 0.0);
    for (size_t i = 0; i < both.size(); i += 2) ends[i / 2] = both[i];
    return ends;
  }

  std::vector<ReplicaKind> Representatives() const {
    const std::vector<double> end = NominalEnds();
    std::vector<size_t> order(kinds_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return end[a] != end[b] ? end[a] > end[b] : a < b;
    });
    const double hopeless = end[order[0]] - kHopelessDeviations * Deviation();
    size_t hopeful = 0;
    while (hopeful < order.size() && end[order[hopeful]] >= hopeless) {
      ++hopeful;
    }
    std::vector<ReplicaKind> chosen;
    for (size_t i = 0; i < std::min(hopeful, kLongest); ++i) {
      chosen.push_back(kinds_[order[i]]);
    }
    const size_t others = hopeful > kLongest ? hopeful - kLongest : 0;
    const size_t bins = std::min(others, kAllKinds - kLongest);
    for (size_t b = 0; b < bins; ++b) {
      const size_t first = kLongest + b * others / bins;
      const size_t last = kLongest + (b + 1) * others / bins;
      ReplicaKind middle = kinds_[order[(first + last) / 2]];
      middle.count = 0;
      for (size_t i = first; i < last; ++i) {
        middle.count += kinds_[order[i]].count;
      }
      chosen.push_back(middle);
    }
    return chosen;
  }

  const StepGraph& graph_;
  const PipelineModel& model_;
  const std::vector<ReplicaKind>& kinds_;
  const std::vector<double>& closing_mean_;
  const uint64_t random_key_;
  const base::Budget& budget_;
  const LaneEffects effects_;
};

}  // namespace

absl::StatusOr<SelectedKinds> SelectKinds(
    const StepGraph& graph, const PipelineModel& model,
    const std::vector<ReplicaKind>& kinds,
    const std::vector<double>& closing_mean, uint64_t random_key,
    const base::Budget& budget) {
  if (graph.slowdown.empty()) return SelectedKinds{kinds, {}};
  SelectedKinds selected =
      Selector(graph, model, kinds, closing_mean, random_key, budget).Select();
  if (budget.Cancelled()) return absl::CancelledError("cancelled");
  return selected;
}

}  // namespace prism::step
