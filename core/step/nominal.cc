// The nominal step: one pass of the simulation with every draw at its mean.

#include <algorithm>
#include <map>
#include <vector>

#include "core/step/block_simulator.h"
#include "core/step/compiled_graph.h"
#include "core/step/composition/nominal_shortlist.h"
#include "core/step/simulate.h"
#include "core/step/streams/step_kinds.h"

namespace prism::step {
namespace {

// Up to this many kinds of replicas are simulated without a shortlist.
constexpr size_t kSimulatedAlways = 64;

// Replicas that must be simulated: one of each kind where nothing but the
// ranks' own factors tells them apart, all where paths or partial groups do.
std::vector<int> DistinctReplicas(const CompiledGraph& compiled) {
  const StepGraph& graph = *compiled.graph;
  const int replicas = graph.grid.replicas;
  std::vector<int> all(replicas);
  for (int r = 0; r < replicas; ++r) all[r] = r;
  bool has_paths = !graph.hop_factor.empty();
  for (const auto& factors : graph.group_factor) {
    has_paths = has_paths || !factors.empty();
  }
  if (has_paths) return all;
  if (graph.slowdown.empty()) return {0};
  for (const Group& group : graph.groups) {
    if (group.spans_replicas() && group.replica_count != replicas) {
      return all;
    }
  }
  const size_t size = size_t(graph.grid.stages) * graph.grid.lanes;
  std::map<std::vector<double>, int> kinds;
  for (int r = 0; r < replicas; ++r) {
    const double* first = &graph.slowdown[r * size];
    kinds.try_emplace(std::vector<double>(first, first + size), r);
  }
  std::vector<int> distinct;
  for (const auto& [factors, replica] : kinds) distinct.push_back(replica);
  std::sort(distinct.begin(), distinct.end());
  if (distinct.size() > kSimulatedAlways) {
    if (auto shortlist = NominalShortlist(compiled)) return *shortlist;
  }
  return distinct;
}

}  // namespace

absl::StatusOr<NominalStep> SimulateNominal(const StepGraph& graph) {
  auto compiled = Compile(graph);
  if (!compiled.ok()) return compiled.status();
  const std::vector<int> replicas = DistinctReplicas(*compiled);
  Elements elements;
  elements.Resize(replicas.size());
  std::copy(replicas.begin(), replicas.end(), elements.replica.begin());
  BlockSimulator simulator(*compiled, 0, DrawMode::kNominal);
  simulator.runner().TrackKinds();
  simulator.RunOperations(elements, true, base::UnlimitedBudget());
  simulator.RunClosing();
  const StepKinds step =
      TakeStepKinds(graph, elements, 0, elements.count, simulator);
  return NominalStep{NamedKinds(graph, step), step.seconds};
}

}  // namespace prism::step
