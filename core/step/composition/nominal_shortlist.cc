#include "core/step/composition/nominal_shortlist.h"

#include <algorithm>
#include <set>

#include "core/step/composition/pipeline_model.h"
#include "core/step/composition/replica_kinds.h"
#include "core/step/composition/replica_sampler.h"

namespace prism::step {
namespace {

// Ends closer than this, relative to the step, are not told apart in single
// precision.
constexpr double kResolution = 1e-5;

// `graph` with every draw and shared factor at its stated mean.
StepGraph AtMeans(const StepGraph& graph) {
  StepGraph means = graph;
  for (auto& d : means.distributions) {
    d = stats::Distribution::MakeConstant(d.StatedMean());
  }
  for (SharedFactor& factor : means.shared_factors) {
    factor.distribution =
        stats::Distribution::MakeConstant(factor.distribution.StatedMean());
  }
  return means;
}

class Shortlister {
 public:
  Shortlister(const StepGraph& graph, const PipelineModel& model)
      : graph_(graph), model_(model), kinds_(FindReplicaKinds(graph)) {}

  std::vector<int> Find() const {
    std::set<int> chosen;
    const auto ends = Ends();
    for (int s = 0; s < model_.stages; ++s) {
      const float last = *std::max_element(ends[s].begin(), ends[s].end());
      const double near = last - kResolution * model_.nominal_end[s];
      for (size_t k = 0; k < kinds_.size(); ++k) {
        if (ends[s][2 * k] >= near) chosen.insert(kinds_[k].first_replica);
      }
    }
    AddSlowestRanks(chosen);
    return {chosen.begin(), chosen.end()};
  }

 private:
  // Lanes that are constant and meet in every operation take as long as the
  // slowest.
  std::vector<KindFactors> SlowestLanes() const {
    const RankGrid& grid = graph_.grid;
    std::vector<KindFactors> all;
    for (const ReplicaKind& kind : kinds_) {
      KindFactors& factors = all.emplace_back();
      factors.spread.assign(model_.sites.size(), 1);
      for (const OperationSite& site : model_.sites) {
        const double* slow =
            &graph_.slowdown[(static_cast<size_t>(kind.first_replica) *
                                  grid.stages +
                              site.stage) *
                             grid.lanes];
        const double slowest = *std::max_element(slow, slow + grid.lanes);
        factors.mean.push_back(static_cast<float>(slowest));
      }
    }
    return all;
  }

  // [stage][kind and its twin].
  std::vector<std::vector<float>> Ends() const {
    const std::vector<KindFactors> factors = SlowestLanes();
    ReplicaSampler sampler(model_, factors, 0);
    std::vector<std::vector<float>> ends(model_.stages,
                                         std::vector<float>(2 * kinds_.size()));
    std::vector<ReplicaPair> pairs;
    for (size_t k = 0; k < kinds_.size(); ++k) {
      pairs.push_back({static_cast<int>(k), 0, 0});
    }
    for (size_t i = 0; i < pairs.size(); i += ReplicaSampler::kBlock) {
      std::vector<float*> to;
      for (auto& stage : ends) to.push_back(&stage[2 * i]);
      sampler.RunQuietly(
          {&pairs[i], std::min(ReplicaSampler::kBlock, pairs.size() - i)},
          base::UnlimitedBudget(), to);
    }
    return ends;
  }

  void AddSlowestRanks(std::set<int>& chosen) const {
    const RankGrid& grid = graph_.grid;
    const size_t ranks = static_cast<size_t>(grid.stages) * grid.lanes;
    for (size_t rank = 0; rank < ranks; ++rank) {
      int slowest = 0;
      for (const ReplicaKind& kind : kinds_) {
        if (graph_.slowdown[kind.first_replica * ranks + rank] >
            graph_.slowdown[slowest * ranks + rank]) {
          slowest = kind.first_replica;
        }
      }
      chosen.insert(slowest);
    }
  }

  const StepGraph& graph_;
  const PipelineModel& model_;
  const std::vector<ReplicaKind> kinds_;
};

}  // namespace

std::optional<std::vector<int>> NominalShortlist(
    const CompiledGraph& compiled) {
  if (compiled.graph->slowdown.empty() || compiled.replicas_interact ||
      std::find(compiled.is_chain.begin(), compiled.is_chain.end(), false) !=
          compiled.is_chain.end()) {
    return std::nullopt;
  }
  const StepGraph means = AtMeans(*compiled.graph);
  const auto at_means = Compile(means);
  if (!at_means.ok()) return std::nullopt;
  LawTable cache(means);
  const auto model = BuildPipelineModel(*at_means, {}, cache);
  if (!model.has_value() || model->lane_slack > 0) return std::nullopt;
  for (const OperationLaw& law : model->laws) {
    // Lane factors act on compute alone, so joined lanes must hold no other.
    for (const LanePart& part : law.lane_parts) {
      if (part.share != 1) return std::nullopt;
    }
  }
  return Shortlister(*compiled.graph, *model).Find();
}

}  // namespace prism::step
