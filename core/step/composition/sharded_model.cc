#include "core/step/composition/sharded_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "core/step/composition/sharded_budget.h"

namespace prism::step {
namespace {

constexpr int kCompute = static_cast<int>(FactorClass::kCompute);
constexpr int kOptimizer = static_cast<int>(FactorClass::kOptimizer);
constexpr int kNetwork = static_cast<int>(FactorClass::kNetwork);

// More meetings in a step than this are left to the reference method.
constexpr int kMostMeetings = 256;
// Steps with two stalls in one replica between two barriers that may be taken
// for steps with one: a fifth of what is beyond p99.
constexpr double kMostStallsTogether = 0.002;
// Replicas are drawn one by one in stretches with meetings where a step needs
// no more draws for it than this: some 25 milliseconds on one core.
constexpr double kMostDraws = 1500;
// Network draws inside barriers take the compute factor where they are less
// than this share of all: what the network's factor does to the step is then
// wrong by no more than that.
constexpr double kLeastMix = 0.02;
// By how much of its variance reusing rows of meetings may make the answer's
// chance more, and how often at most.
constexpr double kReuseVariance = 1;
constexpr double kMostReuse = 8;
// What matters of the upper tail of a sum over the step.
constexpr double kStepTail = 1e-6;

class ModelBuilder {
 public:
  ModelBuilder(const CompiledGraph& compiled, const base::Budget& budget)
      : compiled_(compiled),
        graph_(*compiled.graph),
        budget_(budget),
        cache_(graph_) {}

  std::optional<ShardedModel> Build() {
    model_.graph = &graph_;
    if (!SortFactors()) return std::nullopt;
    auto program = CutAtBarriers(compiled_, kMostMeetings, budget_);
    if (!program.has_value()) return std::nullopt;
    model_.program = *std::move(program);
    // Each may have a million samples.
    for (size_t i = 0; i < graph_.distributions.size(); ++i) {
      if (IsOver(budget_)) return std::nullopt;
      cache_.Get(static_cast<int>(i));
    }
    model_.lanes = graph_.grid.lanes;
    model_.lanes_alike = graph_.slowdown.empty();
    SetRatios();
    if (load_ != nullptr) {
      model_.loads = std::make_shared<const ReplicaLoads>(graph_, *load_);
    }
    one_by_one_ = load_ == nullptr && MeetingDraws() <= kMostDraws;
    for (double ratio : model_.ratios) {
      if (!BuildLaws(ratio)) return std::nullopt;
    }
    if (!AddItems()) return std::nullopt;
    return std::move(model_);
  }

 private:
  bool SortFactors() {
    constant_ = {1, 1, 1};
    if (!graph_.stage_scale.empty()) {
      constant_[kCompute] = graph_.stage_scale[0];
    }
    for (const SharedFactor& shared : graph_.shared_factors) {
      const auto& applies = shared.applies_to;
      if (shared.distribution.IsConstant()) {
        for (int c = 0; c < kFactorClasses; ++c) {
          if (applies[c]) constant_[c] *= shared.distribution.Mean();
        }
        continue;
      }
      if (shared.scope == FactorScope::kReplica ||
          shared.order != LoadOrder::kAsDrawn) {
        return false;
      }
      if (shared.scope == FactorScope::kStep) {
        if (applies[kCompute] != applies[kOptimizer]) return false;
        model_.factors.push_back(
            {&shared, ScoreCurve(TailLaw::Of(shared.distribution))});
        continue;
      }
      if (load_ != nullptr || !applies[kCompute] || applies[kOptimizer] ||
          applies[kNetwork]) {
        return false;
      }
      load_ = &shared.distribution;
    }
    return std::all_of(constant_.begin(), constant_.end(),
                       [](double factor) { return factor > 0; });
  }

  bool IsRandomNetwork(const OwnDraw& draw) const {
    return draw.factor_class == FactorClass::kNetwork &&
           !graph_.distributions[draw.distribution].IsConstant();
  }

  // Whether the barrier waits for random network draws of single replicas, so
  // that its law depends on the ratio of the factors.
  bool MixesClasses(const Stretch& stretch) const {
    auto is_random = [this](int distribution) {
      return !graph_.distributions[distribution].IsConstant();
    };
    auto mixes = [&](const LaneWork& work) {
      return std::any_of(work.begin(), work.end(), [&](const OwnDraw& draw) {
        return draw.factor_class == FactorClass::kNetwork &&
               is_random(draw.distribution);
      });
    };
    return mixes(stretch.work) ||
           std::any_of(stretch.meetings.begin(), stretch.meetings.end(),
                       [&](const LaneMeeting& meeting) {
                         return mixes(meeting.work) ||
                                is_random(meeting.collective);
                       });
  }

  // Share of a step's network draws that barriers wait for.
  double NetworkInsideBarriers() {
    double inside = 0, outside = 0;
    auto mean = [this](int distribution) {
      return cache_.Get(distribution).mean();
    };
    for (const StretchRun& run : model_.program.runs) {
      const Stretch& stretch = model_.program.stretches[run.stretch];
      auto add = [&](const LaneWork& work, double count) {
        for (const OwnDraw& draw : work) {
          if (draw.factor_class != FactorClass::kNetwork) continue;
          inside += mean(draw.distribution) * draw.count * count;
        }
      };
      add(stretch.work, run.count);
      for (const LaneMeeting& meeting : stretch.meetings) {
        add(meeting.work, meeting.count * run.count);
        inside += mean(meeting.collective) * meeting.count * run.count;
      }
      if (stretch.collective != kAbsent) {
        outside += mean(stretch.collective) * run.count;
      }
    }
    return inside > 0 ? inside / (inside + outside) : 0;
  }

  void SetRatios() {
    double low = 0, high = 0;
    for (const auto& [shared, values] : model_.factors) {
      if (shared->applies_to[kCompute] == shared->applies_to[kNetwork]) {
        continue;
      }
      const double least =
          std::log(std::max(shared->distribution.Quantile(0.0005), 1e-6));
      const double most =
          std::log(std::max(shared->distribution.Quantile(0.9995), 1e-6));
      const bool network = shared->applies_to[kNetwork];
      low += network ? least : -most;
      high += network ? most : -least;
    }
    const auto& stretches = model_.program.stretches;
    if (high - low < 1e-9 || NetworkInsideBarriers() < kLeastMix ||
        std::none_of(stretches.begin(), stretches.end(),
                     [this](const Stretch& s) { return MixesClasses(s); })) {
      model_.ratios = {1};
      return;
    }
    const int nodes = high - low < 0.1 ? 2 : high - low < 1 ? 3 : 5;
    for (int i = 0; i < nodes; ++i) {
      model_.ratios.push_back(std::exp(low) + (std::exp(high) - std::exp(low)) *
                                                  i / (nodes - 1));
    }
  }

  double StallsTogether() const {
    double together = 0;
    for (const StretchRun& run : model_.program.runs) {
      together += run.count * model_.laws[0][run.stretch]->stalls_together;
    }
    return together;
  }

  // Draws of a step where replicas of stretches with meetings are drawn one by
  // one.
  double MeetingDraws() const {
    double draws = 0;
    for (const StretchRun& run : model_.program.runs) {
      const Stretch& stretch = model_.program.stretches[run.stretch];
      if (stretch.meetings.empty()) continue;
      const double lane_draws = (stretch.work.empty() ? 0 : 1) +
                                (stretch.meetings[0].work.empty() ? 0 : 1);
      draws += graph_.grid.replicas * (graph_.grid.lanes * lane_draws + 1);
    }
    return draws;
  }

  bool BuildLaws(double ratio) {
    const bool first = model_.laws.empty();
    StretchSetting setting{.factor = constant_,
                           .load = nullptr,
                           .needs_copula = first,
                           .one_by_one = one_by_one_};
    setting.factor[kNetwork] *= ratio;
    auto& laws = model_.laws.emplace_back();
    for (size_t s = 0; s < model_.program.stretches.size(); ++s) {
      if (!first && !MixesClasses(model_.program.stretches[s])) {
        laws.push_back(model_.laws[0][s]);
        continue;
      }
      const bool loaded =
          std::any_of(model_.program.runs.begin(), model_.program.runs.end(),
                      [s](const StretchRun& run) {
                        return run.stretch == static_cast<int>(s) &&
                               run.microbatch != kAbsent;
                      });
      setting.load = loaded ? load_ : nullptr;
      auto law = BuildStretchLaw(graph_, model_.program.stretches[s], setting,
                                 cache_, budget_);
      if (!law.has_value()) return false;
      // The constant part scales with the network's factor alone.
      law->network_constant /= ratio;
      if (law->meets && loaded && !model_.lanes_alike) {
        return false;
      }
      laws.push_back(std::make_shared<const StretchLaw>(*std::move(law)));
    }
    return StallsTogether() <= kMostStallsTogether;
  }

  // What is summed before the next meeting.
  struct Pending {
    std::map<int, double> stretches;    // count by stretch
    std::map<int, double> collectives;  // count by distribution
    std::map<int, double> stalls;       // count by stretch
    std::vector<StretchRun> loaded;
    double network_constant = 0;

    bool operator<(const Pending& other) const {
      return std::tie(stretches, collectives, stalls, network_constant) <
             std::tie(other.stretches, other.collectives, other.stalls,
                      other.network_constant);
    }
  };

  bool AddItems() {
    for (const StretchRun& run : model_.program.runs) {
      if (IsOver(budget_)) return false;
      const StretchLaw& law = *model_.laws[0][run.stretch];
      if (law.meets) {
        Flush(false);
        AddMeeting(run);
      } else if (run.microbatch == kAbsent) {
        pending_.stretches[run.stretch] += run.count;
      } else {
        pending_.loaded.push_back(run);
        if (!law.excess.empty()) pending_.stalls[run.stretch] += run.count;
      }
      pending_.network_constant += law.network_constant * run.count;
      const double variance = law.barrier.empty() ? law.own_moments.variance(1)
                                                  : law.barrier[0]->variance();
      model_.deviations += run.count * std::sqrt(variance);
      (law.meets ? met_variance_ : other_variance_) += run.count * variance;
      mean_ += run.count * (law.barrier.empty() ? law.own_moments.mean(1)
                                                : law.barrier[0]->mean());
      const int collective = model_.program.stretches[run.stretch].collective;
      if (collective != kAbsent) {
        pending_.collectives[collective] += run.count;
      }
    }
    Flush(true);
    SetMeetingReuse();
    return !IsOver(budget_);
  }

  // A row of a meeting may serve several samples where the meetings make little
  // of the step's variance: what they share then adds no more than
  // kReuseVariance of what chance costs.
  void SetMeetingReuse() {
    double all = met_variance_ + other_variance_;
    for (const auto& [shared, values] : model_.factors) {
      if (!shared->applies_to[kCompute]) continue;
      all += mean_ * mean_ * shared->distribution.Variance();
    }
    if (met_variance_ <= 0) return;
    model_.meeting_reuse = static_cast<int>(
        std::clamp(1 + kReuseVariance * all / met_variance_, 1.0, kMostReuse));
  }

  void AddMeeting(const StretchRun& run) {
    ShardedItem item;
    item.meets = true;
    item.stretch = run.stretch;
    item.microbatch = run.microbatch;
    const StretchLaw& law = *model_.laws[0][run.stretch];
    if (law.work != nullptr) {
      auto& curves = work_curves_[run.stretch];
      if (curves == nullptr) curves = CurvesOf(*law.work);
      item.work = curves;
    } else if (run.microbatch == kAbsent) {
      auto& curves = meeting_curves_[run.stretch];
      if (curves == nullptr) curves = MeetingCurves(run.stretch);
      item.curves = curves;
    }
    model_.items.push_back(std::move(item));
  }

  static std::shared_ptr<const WorkCurves> CurvesOf(const ReplicaWork& work) {
    auto curves = std::make_shared<WorkCurves>();
    curves->first_compute = ScoreCurve(work.first_compute);
    curves->first_network = ScoreCurve(work.first_network);
    curves->last_compute = ScoreCurve(work.last_compute);
    curves->last_network = ScoreCurve(work.last_network);
    curves->collectives = ScoreCurve(work.collectives);
    curves->latest = ScoreCurve(work.latest);
    return curves;
  }

  std::shared_ptr<const ItemCurves> MeetingCurves(int stretch) const {
    auto curves = std::make_shared<ItemCurves>();
    for (const auto& laws : model_.laws) {
      auto& node = curves->compute.emplace_back();
      std::map<const TailLaw*, size_t> known;
      for (const auto& law : laws[stretch]->barrier) {
        const auto [place, is_new] = known.emplace(law.get(), node.size());
        node.push_back(is_new ? ScoreCurve(*law) : node[place->second]);
      }
      curves->latest.emplace_back(*laws[stretch]->latest);
    }
    return curves;
  }

  void Flush(bool last) {
    Pending pending = std::exchange(pending_, {});
    const bool only = last && model_.items.empty();
    auto& curves = sum_curves_[pending];
    if (curves == nullptr) curves = Sum(pending, only);
    ShardedItem item;
    item.curves = curves;
    item.loaded = std::move(pending.loaded);
    model_.items.push_back(std::move(item));
  }

  ScoreCurve SumCurve(const std::vector<RepeatedLaw>& terms, bool is_step) {
    const TailLaw sum = SumOf(terms, kStepTail, budget_);
    if (!is_step || !model_.lanes_alike) return ScoreCurve(sum);
    // The step is one sum a lane: the latest lane has its law's power.
    model_.lanes = 1;
    return ScoreCurve(sum.MaximumOf(graph_.grid.lanes));
  }

  std::shared_ptr<const ItemCurves> Sum(const Pending& pending, bool only) {
    auto item = std::make_shared<ItemCurves>();
    const bool one_sum = model_.factors.empty() && pending.loaded.empty();
    std::vector<TailLaw> scaled;
    std::vector<RepeatedLaw> network;
    scaled.reserve(pending.collectives.size());
    for (const auto& [distribution, count] : pending.collectives) {
      scaled.push_back(cache_.Get(distribution).Affine(constant_[kNetwork], 0));
      network.push_back({&scaled.back(), count});
    }
    item->network_constant = pending.network_constant;
    const int entries = model_.lanes_alike ? 1 : graph_.grid.lanes;
    // Lanes and ratios whose barriers have the same laws share a sum.
    std::map<std::vector<std::pair<const TailLaw*, double>>, ScoreCurve> known;
    for (const auto& laws : model_.laws) {
      auto& curves = item->compute.emplace_back();
      for (int entry = 0; entry < entries; ++entry) {
        std::vector<RepeatedLaw> terms;
        std::vector<std::pair<const TailLaw*, double>> name;
        for (const auto& [stretch, count] : pending.stretches) {
          terms.push_back({&laws[stretch]->barrier_of(entry), count});
          name.emplace_back(terms.back().law, count);
        }
        for (const auto& [stretch, count] : pending.stalls) {
          for (const TailLaw& excess : laws[stretch]->excess) {
            terms.push_back({&excess, count});
            name.emplace_back(&excess, count);
          }
        }
        auto place = known.find(name);
        if (place == known.end()) {
          if (one_sum) {
            terms.insert(terms.end(), network.begin(), network.end());
          }
          place = known.emplace(name, SumCurve(terms, one_sum && only)).first;
        }
        curves.push_back(place->second);
      }
    }
    if (!one_sum)
      item->network = ScoreCurve(SumOf(network, kStepTail, budget_));
    return item;
  }

  const CompiledGraph& compiled_;
  const StepGraph& graph_;
  const base::Budget& budget_;
  TailLawCache cache_;
  std::array<double, kFactorClasses> constant_ = {1, 1, 1};
  Pending pending_;
  std::map<Pending, std::shared_ptr<const ItemCurves>> sum_curves_;
  std::map<int, std::shared_ptr<const ItemCurves>> meeting_curves_;
  std::map<int, std::shared_ptr<const WorkCurves>> work_curves_;
  const stats::Distribution* load_ = nullptr;
  bool one_by_one_ = false;
  // Of the step, by where they come from; without step-wide factors.
  double met_variance_ = 0, other_variance_ = 0, mean_ = 0;
  ShardedModel model_;
};

}  // namespace

std::optional<ShardedModel> BuildShardedModel(const CompiledGraph& compiled,
                                              const base::Budget& budget) {
  return ModelBuilder(compiled, budget).Build();
}

}  // namespace prism::step
