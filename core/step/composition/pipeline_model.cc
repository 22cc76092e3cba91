#include "core/step/composition/pipeline_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace prism::step {
namespace {

// Expected number of draws of a component in one replica below which it counts
// as a rare stall.
constexpr double kRareStalls = 0.3;

class ModelBuilder {
 public:
  ModelBuilder(const CompiledGraph& compiled, const PipelineSetting& setting,
               LawTable& cache)
      : compiled_(compiled),
        graph_(*compiled.graph),
        setting_(setting),
        cache_(cache) {}

  std::optional<PipelineModel> Build() {
    model_.stages = graph_.grid.stages;
    model_.slots = compiled_.plan.slots;
    model_.microbatches = graph_.microbatches;
    AddLoad();
    if (!AddLaws()) return std::nullopt;
    AddOperations();
    return std::move(model_);
  }

 private:
  // All factors of micro-batches as one draw around its mean.
  void AddLoad() {
    for (const SharedFactor& factor : graph_.shared_factors) {
      if (factor.scope != FactorScope::kReplicaMicrobatch) continue;
      const double mean = factor.distribution.Mean();
      load_mean_ *= mean;
      if (factor.distribution.IsConstant()) continue;
      model_.load =
          MakeDraw(ScoreLaw::Of(factor.distribution).ScaledBy(1 / mean), 1,
                   std::sqrt(factor.distribution.Variance()) / mean);
    }
  }

  // Draws of a replica that are made from one distribution, to see what is
  // rare: every task, lane and repetition of every operation.
  double DrawsPerReplica() const {
    double draws = 0;
    for (const PlannedOperation& planned : compiled_.plan.operations) {
      for (const Segment& s : graph_.programs[planned.program].segments) {
        draws += static_cast<double>(s.count) * graph_.grid.lanes;
      }
    }
    return std::max(draws, 1.0);
  }

  double RareWeight() const { return kRareStalls / DrawsPerReplica(); }

  bool AddLaws() {
    std::map<std::pair<int, double>, int> known;
    const double rare_weight = RareWeight();
    for (int phase = 0; phase < kPhases; ++phase) {
      law_of_[phase].assign(graph_.virtual_stages(), kAbsent);
      if (graph_.program_of[phase].empty()) continue;
      for (int u = 0; u < graph_.virtual_stages(); ++u) {
        const int program = graph_.program_of[phase][u];
        if (program == kAbsent) continue;
        const double scale =
            graph_.stage_scale.empty() ? 1 : graph_.stage_scale[u];
        const auto [entry, is_new] = known.try_emplace(
            {program, scale}, static_cast<int>(model_.laws.size()));
        law_of_[phase][u] = entry->second;
        if (!is_new) continue;
        auto law = ReduceOperation(graph_, graph_.programs[program],
                                   {.compute_factor = scale * load_mean_,
                                    .network_factor = setting_.network_factor,
                                    .rare_weight = rare_weight},
                                   cache_);
        if (!law.has_value()) return false;
        model_.laws.push_back(*std::move(law));
      }
    }
    return true;
  }

  int AddHop(int distribution) {
    const auto [entry, is_new] =
        hop_of_.try_emplace(distribution, static_cast<int>(model_.hops.size()));
    if (!is_new) return entry->second;
    const LawTable::Entry& known = cache_.Get(distribution, RareWeight());
    const double factor = setting_.network_factor;
    // Rare stalls of a hop stay in its law: a late arrival holds nobody up for
    // long.
    const auto& law = graph_.distributions[distribution];
    HopLaw hop{.mean = law.Mean() * factor,
               .is_constant = law.IsConstant(),
               .draw = {}};
    if (!hop.is_constant) {
      const ScoreLaw scaled =
          (known.rare.empty() ? known.law : ScoreLaw::Of(law)).ScaledBy(factor);
      hop.draw = MakeDraw(scaled, hop.mean, std::sqrt(law.Variance()) * factor);
    }
    model_.hops.push_back(std::move(hop));
    return entry->second;
  }

  int SiteOf(int law, int stage) {
    const auto [entry, is_new] = site_of_.try_emplace(
        {law, stage}, static_cast<int>(model_.sites.size()));
    if (is_new) model_.sites.push_back({law, stage});
    return entry->second;
  }

  void AddOperations() {
    std::vector<double> clock(model_.stages, 0.0), tight = clock;
    std::vector<double> arrival(model_.slots, 0.0), tight_arrival = arrival;
    for (const PlannedOperation& planned : compiled_.plan.operations) {
      const Operation& op = planned.operation;
      PipelineOperation pipelined{
          .stage = planned.stage,
          .microbatch = op.microbatch,
          .virtual_stage = op.virtual_stage,
          .law = law_of_[static_cast<int>(op.phase)][op.virtual_stage],
          .site = SiteOf(law_of_[static_cast<int>(op.phase)][op.virtual_stage],
                         planned.stage),
          .receives = planned.receives,
          .sends = planned.sends};
      const OperationLaw& law = model_.laws[pipelined.law];
      double start = clock[planned.stage];
      if (planned.receives != kAbsent) {
        const double arrived = arrival[planned.receives];
        start = std::max(start, arrived);
        pipelined.own_offset = static_cast<float>(clock[planned.stage] - start);
        pipelined.arrival_offset = static_cast<float>(arrived - start);
      }
      clock[planned.stage] = start + law.mean;
      // The same schedule without the slack, to see what it adds.
      double& tight_clock = tight[planned.stage];
      if (planned.receives != kAbsent) {
        tight_clock = std::max(tight_clock, tight_arrival[planned.receives]);
      }
      tight_clock += law.mean - law.lane_slack;
      if (planned.sends != kAbsent) {
        pipelined.hop = AddHop(planned.hop);
        const double hop = model_.hops[pipelined.hop].mean;
        arrival[planned.sends] = clock[planned.stage] + hop;
        tight_arrival[planned.sends] = tight_clock + hop;
      }
      for (const RareStall& stall : law.stalls) {
        model_.expected_stalls += stall.probability;
      }
      model_.operations.push_back(pipelined);
    }
    for (int stage = 0; stage < model_.stages; ++stage) {
      model_.lane_slack =
          std::max(model_.lane_slack, clock[stage] - tight[stage]);
    }
    model_.nominal_end = std::move(clock);
  }

  const CompiledGraph& compiled_;
  const StepGraph& graph_;
  const PipelineSetting& setting_;
  LawTable& cache_;
  PipelineModel model_;
  // Law of an operation: [phase][virtual stage].
  std::array<std::vector<int>, kPhases> law_of_;
  std::map<int, int> hop_of_;
  std::map<std::pair<int, int>, int> site_of_;  // by law and stage
  double load_mean_ = 1;
};

}  // namespace

void PipelineModel::JoinEnds(int stage,
                             const std::vector<double>& closing_mean) {
  latest = stage;
  const double last = nominal_end[stage] + closing_mean[stage];
  for (int s = 0; s < stages; ++s) {
    behind_latest.push_back(
        static_cast<float>(nominal_end[s] + closing_mean[s] - last));
  }
}

int64_t PipelineModel::draws() const {
  int64_t draws = load.has_value() ? microbatches : 0;
  for (const PipelineOperation& op : operations) {
    draws += static_cast<int64_t>(laws[op.law].draws.size());
    if (op.hop != kAbsent && !hops[op.hop].is_constant) ++draws;
  }
  return draws;
}

std::optional<PipelineModel> BuildPipelineModel(const CompiledGraph& compiled,
                                                const PipelineSetting& setting,
                                                LawTable& cache) {
  return ModelBuilder(compiled, setting, cache).Build();
}

}  // namespace prism::step
