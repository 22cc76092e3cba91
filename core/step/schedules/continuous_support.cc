#include "core/step/schedules/continuous_support.h"

#include "core/step/test_support.h"

namespace prism::step {
namespace {

using stats::Distribution;

// One program a law; -1 for all where there are none.
std::vector<int> AddPrograms(const std::vector<Distribution>& laws,
                             size_t virtual_stages, StepGraph& graph) {
  std::vector<int> programs(virtual_stages, -1);
  for (size_t u = 0; u < laws.size(); ++u) {
    programs[u] = static_cast<int>(graph.programs.size());
    graph.programs.emplace_back();
    AddSegment(graph, programs[u],
               {Task{.distribution = graph.add_distribution(laws[u])}});
  }
  return programs;
}

}  // namespace

RunLaws ConstantLaws(const ContinuousRun& run, double forward, double backward,
                     double hop, double update) {
  RunLaws laws;
  const size_t stages = run.stage_of.size();
  laws.forward.assign(stages, Distribution::MakeConstant(forward));
  laws.backward.assign(stages, Distribution::MakeConstant(backward));
  laws.hop = Distribution::MakeConstant(hop);
  laws.update = Distribution::MakeConstant(update);
  return laws;
}

StepGraph GraphOf(const ContinuousRun& run, const RunLaws& laws, int replicas) {
  const int stages = static_cast<int>(run.order.size());
  StepGraph graph = EmptyGraph({replicas, stages, 1}, run.microbatches);
  graph.stage_of = run.stage_of;
  graph.order = run.order;
  graph.updates = run.updates;
  for (auto& programs : graph.program_of) {
    programs.assign(run.stage_of.size(), -1);
  }
  const auto of = [&graph](Phase phase) -> std::vector<int>& {
    return graph.program_of[static_cast<int>(phase)];
  };
  of(Phase::kForward) = AddPrograms(laws.forward, run.stage_of.size(), graph);
  of(Phase::kBackward) = AddPrograms(laws.backward, run.stage_of.size(), graph);
  graph.forward_hop.assign(run.stage_of.size() - 1,
                           graph.add_distribution(laws.hop));
  graph.backward_hop = graph.forward_hop;
  graph.groups = {{.replica_count = replicas}};
  AddSegment(graph, kClosingProgram,
             {Task{.distribution = graph.add_distribution(laws.reduction),
                   .factor_class = FactorClass::kNetwork,
                   .group = 0},
              Task{.distribution = graph.add_distribution(laws.update),
                   .factor_class = FactorClass::kOptimizer}});
  graph.fetches = run.fetches;
  graph.fetch = static_cast<int>(graph.programs.size());
  graph.programs.emplace_back();
  AddSegment(graph, graph.fetch,
             {Task{.distribution =
                       graph.add_distribution(Distribution::MakeConstant(0)),
                   .stream = 1,
                   .after = {}},
              Task{.distribution = graph.add_distribution(laws.upload),
                   .factor_class = FactorClass::kNetwork,
                   .stream = 1,
                   .detached = true}});
  return graph;
}

}  // namespace prism::step
