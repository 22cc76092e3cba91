#include "core/estimate/estimate.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/estimate/cost.h"
#include "core/estimate/graph_builder.h"
#include "core/estimate/memory_verdict.h"
#include "core/estimate/nominal.h"
#include "core/estimate/rank_slowdown.h"
#include "core/estimate/variation.h"
#include "core/workload/flops.h"

namespace prism::estimate {
namespace {

using workload::Job;

double GigaBytes(double bytes) { return bytes / 1e9; }

std::string InfeasibleReason(const Job& job, const MemoryUse& use,
                             double capacity) {
  std::string parts;
  for (const auto& [name, bytes] : use.parts()) {
    absl::StrAppendFormat(&parts, "%s%s %.1f", parts.empty() ? "" : ", ", name,
                          GigaBytes(bytes));
  }
  return absl::StrFormat(
      "a GPU of pipeline stage %d needs %.1f GB and has %.1f GB (%s): %s",
      use.stage, GigaBytes(use.total()), GigaBytes(capacity), parts,
      MemoryAdvice(job, capacity));
}

// Nodes said to be faster than their data sheet lower the floor as well.
double FloorSeconds(const Job& job, const hardware::Cluster& cluster,
                    double peak_flops) {
  double fastest = 1;
  for (const hardware::NodeState& state : cluster.node_states) {
    fastest = std::min(fastest, state.slowdown.value_or(1));
  }
  double busiest = 0;
  for (const int64_t stage : {int64_t{0}, job.parallelism.pipeline - 1}) {
    busiest = std::max(busiest, workload::ExecutedFlops(job, stage));
  }
  return fastest * busiest / peak_flops;
}

std::vector<std::string> Notes(const Job& job,
                               const hardware::Accelerator& accelerator,
                               const hardware::Cluster& cluster) {
  std::vector<std::string> notes;
  const hardware::NumberFormat asked = FormatOf(job.training.precision);
  const hardware::Peak peak = hardware::PeakOf(accelerator, asked);
  if (peak.format != asked) {
    notes.push_back(absl::StrFormat("%s has no %s units: products run in %s",
                                    accelerator.name,
                                    hardware::NumberFormatName(asked),
                                    hardware::NumberFormatName(peak.format)));
  }
  const hardware::OperatorUncertainty uncertainty =
      hardware::UncertaintyOf(accelerator, asked);
  if (!uncertainty.measured) {
    notes.push_back(absl::StrFormat(
        "operators of %s in %s are uncertain by %.0f%%, all alike: %s",
        accelerator.name, hardware::NumberFormatName(peak.format),
        100 * uncertainty.relative_deviation, uncertainty.reason));
  }
  if (cluster.fabric.empty()) {
    notes.push_back(absl::StrFormat(
        "no fabric given: the usual links of %s, %g GB/s inside a node and "
        "%g GB/s a GPU between nodes, full bisection",
        accelerator.name, GigaBytes(accelerator.node_link_bytes_per_second),
        GigaBytes(accelerator.network_bytes_per_second)));
  }
  if (job.parallelism.gradient_ranks() > 1 &&
      !job.parallelism.overlap.gradients) {
    notes.push_back(
        "gradients are reduced after the last backward, not beside it");
  }
  return notes;
}

// How many of the job's nodes and paths were measured to be a distribution.
int MeasuredFactors(const hardware::Cluster& cluster, const RankMap& ranks) {
  std::vector<bool> used(static_cast<size_t>(cluster.nodes));
  for (int64_t slot = 0; slot <= ranks.Slot(ranks.gpus() - 1); ++slot) {
    used[static_cast<size_t>(ranks.NodeOfSlot(slot))] = true;
  }
  int measured = 0;
  for (const hardware::NodeState& state : cluster.node_states) {
    measured +=
        state.measured_slowdown && used[static_cast<size_t>(state.node)];
  }
  for (const hardware::PathState& state : cluster.path_states) {
    measured += state.measured_slowdown &&
                used[static_cast<size_t>(state.from)] &&
                used[static_cast<size_t>(state.to)];
  }
  return measured;
}

}  // namespace

absl::StatusOr<Estimate> BuildShapeEstimate(
    const Job& job, const hardware::Cluster& cluster, PlacementShape shape,
    const calibration::Constants& constants, const Variation& variation) {
  const hardware::Accelerator* accelerator =
      hardware::FindAccelerator(cluster.accelerator);
  PRISM_CHECK(accelerator != nullptr);
  const Cost cost(job, cluster, std::move(shape), constants);
  NominalEvaluator evaluator(job.model, cluster, constants, variation);
  const absl::StatusOr<NominalTime> nominal =
      evaluator.Evaluate(job.parallelism, job.training);
  if (!nominal.ok()) return nominal.status();
  absl::StatusOr<step::StepGraph> graph =
      BuildJobGraph(job, cost, variation, evaluator.Order(), nominal->seconds);
  if (!graph.ok()) return graph.status();

  Estimate estimate;
  estimate.graph = *std::move(graph);
  estimate.memory = PeakMemory(job);
  estimate.memory_capacity_bytes = accelerator->memory_bytes;
  estimate.feasible = estimate.memory.total() <= estimate.memory_capacity_bytes;
  if (!estimate.feasible) {
    estimate.infeasible_reason =
        InfeasibleReason(job, estimate.memory, estimate.memory_capacity_bytes);
  }
  estimate.model_flops = workload::ModelFlops(job);
  estimate.peak_flops_per_gpu = cost.peak().flops_per_second;
  estimate.floor_seconds =
      FloorSeconds(job, cluster, estimate.peak_flops_per_gpu);
  estimate.notes = Notes(job, *accelerator, cluster);
  return estimate;
}

absl::StatusOr<Estimate> BuildEstimate(const Job& job,
                                       const hardware::Cluster& cluster,
                                       const Placement& placement,
                                       const calibration::Constants& constants,
                                       const Variation& variation) {
  absl::StatusOr<Estimate> estimate = BuildShapeEstimate(
      job, cluster, ShapeOf(job, cluster, placement), constants, variation);
  if (!estimate.ok()) return estimate;
  const RankMap ranks(job.parallelism, cluster, placement);
  estimate->graph.slowdown =
      RankSlowdowns(ranks, MeasuredSlowdowns(cluster), variation);
  if (const int measured = MeasuredFactors(cluster, ranks); measured > 0) {
    estimate->notes.push_back(absl::StrFormat(
        "measured slowdowns of nodes and paths are taken by their means, %d in "
        "all",
        measured));
  }
  return estimate;
}

}  // namespace prism::estimate
