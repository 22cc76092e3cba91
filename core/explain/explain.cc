#include "core/explain/explain.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/explain/path_shares.h"
#include "core/step/compiled_graph.h"

namespace prism::explain {
namespace {

using step::StepGraph;

// Of the time there is, what following critical paths may take.
constexpr double kPathsOfBudget = 0.25;

bool DealsLoads(const StepGraph& graph) {
  return std::any_of(graph.shared_factors.begin(), graph.shared_factors.end(),
                     [](const step::SharedFactor& factor) {
                       return factor.order != step::LoadOrder::kAsDrawn;
                     });
}

StepWithout Without(const ComparedStep& step, const ComparedStep& base) {
  return {MeanDifference(step, base), P50Difference(step, base),
          P95Difference(step, base)};
}

// How often each program runs on the stage where it runs most, in one step of
// one replica.
std::vector<double> RunsOfPrograms(const step::CompiledGraph& compiled) {
  const StepGraph& graph = *compiled.graph;
  std::vector<std::vector<double>> runs(
      graph.grid.stages, std::vector<double>(graph.programs.size(), 0));
  for (const step::PlannedOperation& planned : compiled.plan.operations) {
    runs[planned.stage][planned.program] += 1;
  }
  for (int stage = 0; stage < graph.grid.stages; ++stage) {
    // Of a continuous run updates are among the operations.
    if (!graph.is_continuous()) runs[stage][graph.closing[stage]] += 1;
  }
  std::vector<double> most(graph.programs.size(), 0);
  for (const auto& of_stage : runs) {
    for (size_t p = 0; p < most.size(); ++p) {
      most[p] = std::max(most[p], of_stage[p] / graph.steps());
    }
  }
  return most;
}

// Means of all that a factor multiplies on one rank, in one step.
double SecondsUnder(const StepGraph& graph, const step::SharedFactor& factor,
                    const std::vector<double>& runs) {
  double seconds = 0;
  for (size_t p = 0; p < graph.programs.size(); ++p) {
    for (const step::Segment& segment : graph.programs[p].segments) {
      for (const step::Task& task : segment.tasks) {
        if (!factor.applies_to[static_cast<size_t>(task.factor_class)])
          continue;
        seconds += runs[p] * static_cast<double>(segment.count) *
                   graph.distributions[task.distribution].Mean();
      }
    }
  }
  return seconds;
}

double OwnDeviation(const StepGraph& graph, const Source& source,
                    const std::vector<double>& runs) {
  double variance = 0;
  for (const TaskPlace& place : source.tasks) {
    const step::Segment& segment =
        graph.programs[place.program].segments[place.segment];
    const step::Task& task = segment.tasks[place.task];
    variance += runs[place.program] * static_cast<double>(segment.count) *
                graph.distributions[task.distribution].Variance();
  }
  if (source.hops) {
    for (const auto* hops : {&graph.forward_hop, &graph.backward_hop}) {
      double widest = 0;
      for (const int hop : *hops) {
        widest = std::max(widest, graph.distributions[hop].Variance());
      }
      variance += graph.microbatches * widest / graph.steps();
    }
  }
  if (source.shared_factor) {
    const auto& factor = graph.shared_factors[*source.shared_factor];
    const double seconds = SecondsUnder(graph, factor, runs);
    const double draws = factor.scope == step::FactorScope::kReplicaMicrobatch
                             ? graph.microbatches / graph.steps()
                             : 1;
    variance += seconds * seconds * factor.distribution.Variance() / draws;
  }
  return std::sqrt(variance);
}

// Shares that differ by less are alike for whoever reads them.
double InSteps(const Cause& cause) {
  constexpr double kStep = 1e-3;
  return std::round(cause.share_of_variance.value / kStep);
}

class Explainer {
 public:
  Explainer(const StepGraph& graph, const std::vector<StepGraph>& changes,
            const ExplainOptions& options, const base::Budget& budget,
            base::Executor& executor)
      : graph_(graph),
        changes_(changes),
        options_(options),
        budget_(budget),
        executor_(executor),
        sources_(FindSources(graph, options.rank_groups)) {}

  absl::StatusOr<Explanation> Run() {
    const auto compiled = step::Compile(graph_);
    if (!compiled.ok()) return compiled.status();
    explanation_.causes_left_out = sources_.left_out;
    explanation_.changes.resize(changes_.size());
    FollowPaths(*compiled);
    if (absl::Status status = Compare(); !status.ok()) return status;
    if (absl::Status status = CompareDealt(); !status.ok()) return status;
    Sort();
    return std::move(explanation_);
  }

 private:
  void FollowPaths(const step::CompiledGraph& compiled) {
    const PathShares shares =
        FollowSources(compiled, sources_.list, options_.random_key,
                      base::PartOfBudget(budget_, kPathsOfBudget));
    explanation_.paths = shares.paths;
    const std::vector<double> runs = RunsOfPrograms(compiled);
    for (size_t i = 0; i < sources_.list.size(); ++i) {
      Cause cause;
      cause.source = sources_.list[i];
      cause.share_of_mean = shares.of_source[i].of_mean;
      cause.criticality = shares.of_source[i].frequency;
      cause.own_deviation_seconds = OwnDeviation(graph_, cause.source, runs);
      explanation_.causes.push_back(std::move(cause));
    }
  }

  absl::Status Compare() {
    std::vector<StepGraph> graphs = {graph_};
    for (const Source& source : sources_.list) {
      graphs.push_back(WithTypical(graph_, source));
    }
    for (const StepGraph& change : changes_) {
      if (!DealsLoads(change)) graphs.push_back(change);
    }
    // Where loads are dealt, that has to be computed as well.
    const base::PartOfBudget part(budget_, HasDealt() ? 0.7 : 1);
    const auto compared = CompareSteps(graphs, Options(false), part, executor_);
    if (!compared.ok()) return compared.status();
    const ComparedStep& base = compared->steps[0];
    explanation_.time = base.time;
    explanation_.method = compared->method;
    explanation_.quality = compared->quality;
    explanation_.samples = compared->samples;
    size_t next = 1;
    for (Cause& cause : explanation_.causes) {
      const ComparedStep& step = compared->steps[next++];
      cause.share_of_variance = VarianceShare(step, base);
      cause.without = Without(step, base);
    }
    for (size_t i = 0; i < changes_.size(); ++i) {
      if (DealsLoads(changes_[i])) continue;
      const ComparedStep& step = compared->steps[next++];
      explanation_.changes[i] = {Without(step, base), step.time};
    }
    return absl::OkStatus();
  }

  absl::Status CompareDealt() {
    if (!HasDealt()) return absl::OkStatus();
    std::vector<StepGraph> graphs = {graph_};
    for (const StepGraph& change : changes_) {
      if (DealsLoads(change)) graphs.push_back(change);
    }
    const auto compared =
        CompareSteps(graphs, Options(true), budget_, executor_);
    if (!compared.ok()) return compared.status();
    size_t next = 1;
    for (size_t i = 0; i < changes_.size(); ++i) {
      if (!DealsLoads(changes_[i])) continue;
      const ComparedStep& step = compared->steps[next++];
      explanation_.changes[i] = {Without(step, compared->steps[0]), step.time};
    }
    if (compared->quality == step::Quality::kReduced) {
      explanation_.quality = step::Quality::kReduced;
    }
    return absl::OkStatus();
  }

  bool HasDealt() const {
    return std::any_of(changes_.begin(), changes_.end(), DealsLoads);
  }

  ComparisonOptions Options(bool by_draws) const {
    return {.samples = options_.samples,
            .way = by_draws ? ComparisonOptions::Way::kDraws
                            : ComparisonOptions::Way::kCheaper,
            .random_key = options_.random_key};
  }

  void Sort() {
    std::stable_sort(explanation_.causes.begin(), explanation_.causes.end(),
                     [](const Cause& a, const Cause& b) {
                       if (a.source.by != b.source.by) {
                         return a.source.by < b.source.by;
                       }
                       const double of_a = InSteps(a), of_b = InSteps(b);
                       if (of_a != of_b) return of_a > of_b;
                       return a.share_of_mean > b.share_of_mean;
                     });
  }

  const StepGraph& graph_;
  const std::vector<StepGraph>& changes_;
  const ExplainOptions& options_;
  const base::Budget& budget_;
  base::Executor& executor_;
  const Sources sources_;
  Explanation explanation_;
};

}  // namespace

absl::StatusOr<Explanation> Explain(const StepGraph& graph,
                                    const std::vector<StepGraph>& changes,
                                    const ExplainOptions& options,
                                    const base::Budget& budget,
                                    base::Executor& executor) {
  return Explainer(graph, changes, options, budget, executor).Run();
}

}  // namespace prism::explain
