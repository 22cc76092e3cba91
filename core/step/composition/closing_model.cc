#include "core/step/composition/closing_model.h"

#include <algorithm>
#include <map>

namespace prism::step {
namespace {

// Slowdowns closer than this times their spread count as one when the longest
// of many draws is taken.
constexpr int kSlowdownBins = 32;

// Law of the maximum of factor[i] times a copy of `law`.
ScoreLaw MaximumOfScaled(const ScoreLaw& law, std::vector<double> factors) {
  std::sort(factors.begin(), factors.end());
  const double low = factors.front(), high = factors.back();
  const double count = static_cast<double>(factors.size());
  if (low == high) return law.MaximumOf(count).ScaledBy(low);
  // The mean of each bin stands for its members.
  std::map<int, std::pair<double, double>> bins;
  for (double factor : factors) {
    const int bin = std::min(
        kSlowdownBins - 1,
        static_cast<int>((factor - low) / (high - low) * kSlowdownBins));
    bins[bin].first += factor;
    bins[bin].second += 1;
  }
  std::vector<WeightedFactor> weighted;
  for (const auto& [bin, sum] : bins) {
    weighted.push_back({sum.first / sum.second, sum.second});
  }
  return law.MaximumOf(weighted);
}

class ClosingBuilder {
 public:
  ClosingBuilder(const StepGraph& graph, const base::Budget& budget)
      : graph_(graph), budget_(budget) {}

  std::optional<StageClosing> Build(int stage) const {
    StageClosing closing;
    // Before the replicas have met, what a rank adds must be the same for all.
    bool met = graph_.grid.replicas == 1;
    const Program& program = graph_.programs[graph_.closing[stage]];
    for (const Segment& segment : program.segments) {
      if (segment.count != 1) return std::nullopt;
      for (const Task& task : segment.tasks) {
        if (task.group != kNoGroup) {
          if (!SpansAllReplicas(graph_.groups[task.group])) {
            return std::nullopt;
          }
          closing.tasks.push_back(Collective(task));
          met = true;
        } else {
          if (!met && !IsSameForAll(task)) return std::nullopt;
          closing.tasks.push_back(Own(task, stage));
        }
        closing.mean += closing.tasks.back().mean;
      }
    }
    return closing;
  }

 private:
  bool SpansAllReplicas(const Group& group) const {
    return group.lane_count == 1 && group.replica_count == graph_.grid.replicas;
  }

  bool IsSameForAll(const Task& task) const {
    return graph_.distributions[task.distribution].IsConstant() &&
           (graph_.slowdown.empty() ||
            task.factor_class == FactorClass::kNetwork);
  }

  ClosingTask Collective(const Task& task) const {
    const auto& distribution = graph_.distributions[task.distribution];
    return {.factor_class = task.factor_class,
            .is_constant = distribution.IsConstant(),
            .law = {ScoreLaw::Of(distribution)},
            .mean = distribution.Mean()};
  }

  ClosingTask Own(const Task& task, int stage) const {
    const auto& distribution = graph_.distributions[task.distribution];
    ClosingTask own{.factor_class = task.factor_class,
                    .is_constant = distribution.IsConstant(),
                    .law = {},
                    .mean = 0};
    const ScoreLaw law = ScoreLaw::Of(distribution);
    const bool slowed =
        task.factor_class != FactorClass::kNetwork && !graph_.slowdown.empty();
    const RankGrid& grid = graph_.grid;
    for (int lane = 0; lane < (slowed ? grid.lanes : 1); ++lane) {
      if (budget_.Cancelled()) break;
      std::vector<double> factors(grid.replicas, 1.0);
      for (int r = 0; slowed && r < grid.replicas; ++r) {
        factors[r] =
            graph_.slowdown[(static_cast<size_t>(r) * grid.stages + stage) *
                                grid.lanes +
                            lane];
      }
      own.law.push_back(
          own.is_constant
              ? law.ScaledBy(*std::max_element(factors.begin(), factors.end()))
              : MaximumOfScaled(law, std::move(factors)));
      own.mean = std::max(own.mean, own.law.back().At(0));
    }
    return own;
  }

  const StepGraph& graph_;
  const base::Budget& budget_;
};

}  // namespace

std::optional<std::vector<StageClosing>> BuildClosingModel(
    const StepGraph& graph, const base::Budget& budget) {
  const ClosingBuilder builder(graph, budget);
  std::vector<StageClosing> closings;
  for (int stage = 0; stage < graph.grid.stages; ++stage) {
    auto closing = builder.Build(stage);
    if (!closing.has_value() || budget.Cancelled()) return std::nullopt;
    closings.push_back(*std::move(closing));
  }
  return closings;
}

}  // namespace prism::step
