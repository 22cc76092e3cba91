#include "core/step/composition/structured.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/step/composition/closing_model.h"
#include "core/step/composition/pipeline_model.h"
#include "core/step/composition/replica_maximum.h"
#include "core/step/composition/step_integral.h"

namespace prism::step {
namespace {

constexpr int64_t kDefaultSamples = 8192;

constexpr int kCompute = static_cast<int>(FactorClass::kCompute);
constexpr int kNetwork = static_cast<int>(FactorClass::kNetwork);

// Ratios of network to compute times that the step-wide factors can make, as
// logarithms; one entry where they are fixed.
std::vector<double> RegimeRatios(const StepGraph& graph) {
  double low = 0, high = 0;
  for (const SharedFactor& shared : graph.shared_factors) {
    if (shared.scope != FactorScope::kStep) continue;
    const bool compute = shared.applies_to[kCompute];
    const bool network = shared.applies_to[kNetwork];
    if (compute == network) continue;
    const double least =
        std::log(std::max(shared.distribution.Quantile(0.0005), 1e-6));
    const double most =
        std::log(std::max(shared.distribution.Quantile(0.9995), 1e-6));
    low += network ? least : -most;
    high += network ? most : -least;
  }
  if (high - low < 1e-9) return {(low + high) / 2};
  const int nodes = high - low < 0.05   ? 2
                    : high - low < 0.5  ? 3
                    : high - low < 1.25 ? 5
                                        : 9;
  std::vector<double> ratios;
  for (int i = 0; i < nodes; ++i) {
    ratios.push_back(low + (high - low) * i / (nodes - 1));
  }
  return ratios;
}

bool HasNetworkInside(const PipelineModel& model) {
  for (const OperationLaw& law : model.laws) {
    if (law.mean - law.compute_mean > 1e-12 * law.mean ||
        law.network_share > 0) {
      return true;
    }
  }
  return std::any_of(model.hops.begin(), model.hops.end(),
                     [](const HopLaw& hop) { return hop.mean > 0; });
}

// Whether shared factors are of scopes the method knows.
bool HasKnownFactors(const StepGraph& graph) {
  int loads = 0;
  for (const SharedFactor& shared : graph.shared_factors) {
    if (shared.scope == FactorScope::kStep) continue;
    if (shared.scope != FactorScope::kReplicaMicrobatch) return false;
    if (shared.distribution.IsConstant()) continue;
    if (!shared.applies_to[kCompute] || shared.applies_to[kNetwork] ||
        ++loads > 1) {
      return false;
    }
  }
  return true;
}

std::vector<KindFactors> FactorsOfKinds(const StepGraph& graph,
                                        const PipelineModel& model,
                                        const std::vector<ReplicaKind>& kinds) {
  if (graph.slowdown.empty()) return {};
  const int stages = graph.grid.stages, lanes = graph.grid.lanes;
  std::vector<KindFactors> all(kinds.size());
  for (size_t k = 0; k < kinds.size(); ++k) {
    all[k].mean.resize(model.laws.size() * stages);
    all[k].spread.resize(model.laws.size() * stages);
    for (int stage = 0; stage < stages; ++stage) {
      const std::span<const double> slow(
          &graph
               .slowdown[(static_cast<size_t>(kinds[k].first_replica) * stages +
                          stage) *
                         lanes],
          lanes);
      for (size_t law = 0; law < model.laws.size(); ++law) {
        const LaneEffect effect = EffectOfLanes(model.laws[law], slow);
        all[k].mean[law * stages + stage] = static_cast<float>(effect.mean);
        all[k].spread[law * stages + stage] = static_cast<float>(effect.spread);
      }
    }
  }
  return all;
}

bool IsKnownShape(const CompiledGraph& compiled) {
  const StepGraph& graph = *compiled.graph;
  const bool chains =
      std::find(compiled.is_chain.begin(), compiled.is_chain.end(), false) ==
      compiled.is_chain.end();
  bool paths = !graph.hop_factor.empty();
  for (const auto& factors : graph.group_factor) {
    paths = paths || !factors.empty();
  }
  return chains && !paths && !compiled.replicas_interact &&
         HasKnownFactors(graph);
}

}  // namespace

std::optional<absl::StatusOr<StepTime>> SimulateStructured(
    const CompiledGraph& compiled, const SimulationOptions& options,
    const base::Budget& budget, base::Executor& executor) {
  const StepGraph& graph = *compiled.graph;
  if (!IsKnownShape(compiled)) return std::nullopt;
  auto closings = BuildClosingModel(graph);
  if (!closings.has_value()) return std::nullopt;

  IntegralRequest integral{.graph = &graph,
                           .nodes = {},
                           .closings = *std::move(closings),
                           .random_key = options.random_key};
  MaximumRequest request{.kinds = FindReplicaKinds(graph),
                         .factors = {},
                         .closing_mean = {},
                         .random_key = options.random_key,
                         .samples = options.samples.value_or(kDefaultSamples)};
  for (const StageClosing& closing : integral.closings) {
    request.closing_mean.push_back(closing.mean);
  }
  std::vector<double> ratios = RegimeRatios(graph);
  if (ratios.size() > 1) {
    const auto probe = BuildPipelineModel(compiled, {});
    if (!probe.has_value()) return std::nullopt;
    if (!HasNetworkInside(*probe)) ratios = {0};
  }
  for (double log_ratio : ratios) {
    const auto model =
        BuildPipelineModel(compiled, {.network_factor = std::exp(log_ratio)});
    if (!model.has_value()) return std::nullopt;
    request.factors = FactorsOfKinds(graph, *model, request.kinds);
    auto maxima = MaximumOverReplicas(*model, request, budget, executor);
    if (!maxima.ok()) return maxima.status();
    integral.nodes.push_back({log_ratio, *std::move(maxima)});
  }
  StepTime time = IntegrateStep(integral);
  time.samples = request.samples;
  time.method = Method::kAuto;
  return time;
}

}  // namespace prism::step
