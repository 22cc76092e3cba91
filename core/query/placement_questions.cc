#include "core/query/placement_questions.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "core/estimate/estimate.h"
#include "core/query/canonical_form.h"
#include "core/query/canonical_writer.h"
#include "core/query/question.h"
#include "core/query/step_time_message.h"

namespace prism::query {
namespace {

using placement::NodeList;
using prism::v1::Provenance;

// --- canonical forms ---

template <typename Request>
void WriteSetting(CanonicalWriter& out, const Request& request) {
  out.Text(1, JobForm(request.job));
  out.Text(1, ClusterForm(request.cluster, ClusterParts::kSpeeds));
}

void Write(CanonicalWriter& out, uint8_t tag,
           const std::vector<int64_t>& nodes) {
  out.List(tag, nodes.size());
  for (const int64_t node : nodes) out.Integer(1, node);
}

void Write(CanonicalWriter& out, const placement::Goal& goal) {
  out.Integer(2, static_cast<int64_t>(goal.objective));
  out.Number(3, goal.risk_quantile);
}

void Write(CanonicalWriter& out, const placement::ScoreRequest& request) {
  WriteSetting(out, request);
  Write(out, request.goal);
  out.List(4, request.placements.size());
  for (const NodeList& nodes : request.placements) Write(out, 5, nodes);
}

void Write(CanonicalWriter& out, const placement::OptimizeRequest& request) {
  WriteSetting(out, request);
  Write(out, request.goal);
  Write(out, 4, request.free_nodes);
  Write(out, 5, request.constraints.exclude);
  out.Integer(6, request.constraints.spares);
  out.Text(7, request.constraints.within);
  out.Integer(8, request.constraints.segment_nodes);
  out.Integer(9, static_cast<int64_t>(request.seed));
  // The names of levels count where one is asked for.
  for (const auto& level : request.cluster.fabric) {
    out.Text(10, request.constraints.within.empty() ? "" : level.name);
  }
}

template <typename Request>
void WriteAll(CanonicalWriter& out,
              const PlacementQuestion<Request>& question) {
  Write(out, question.request);
  out.List(20, question.what_ifs.size());
  for (const auto& what_if : question.what_ifs) {
    out.Text(21, what_if.name);  // told in the answer
    Write(out, what_if.request);
  }
}

// --- answers ---

void SetProvenance(step::Quality quality, const base::Budget& budget,
                   Provenance& provenance) {
  provenance.set_model_version(ModelVersion());
  provenance.set_quality(quality == step::Quality::kReduced
                             ? prism::v1::QUALITY_REDUCED
                             : prism::v1::QUALITY_EXACT);
  provenance.set_elapsed_seconds(absl::ToDoubleSeconds(budget.Elapsed()));
}

step::Quality Worse(step::Quality a, step::Quality b) {
  return a == step::Quality::kReduced ? a : b;
}

// Whether the job fits in memory, which does not depend on where it runs.
template <typename Request, typename Response>
absl::Status SetMemoryVerdict(const Request& request,
                              const placement::NodeList& nodes,
                              Response& response) {
  const auto estimate =
      estimate::BuildEstimate(request.job, request.cluster, {nodes});
  if (!estimate.ok()) return estimate.status();
  response.set_feasible(estimate->feasible);
  response.set_infeasible_reason(estimate->infeasible_reason);
  return absl::OkStatus();
}

template <typename List>
void SetScores(const placement::ScoreResult& result,
               const std::vector<std::string>& names, List* list) {
  for (size_t i = 0; i < result.placements.size(); ++i) {
    const placement::ScoredPlacement& scored = result.placements[i];
    auto& message = *list->Add();
    message.set_name(names[i]);
    message.set_score(scored.score);
    SetStepTime(scored.step_time, *message.mutable_step_time());
    message.set_probability_best(scored.probability_best);
    message.set_tied_group(static_cast<uint32_t>(scored.tied_group));
    message.set_difference_seconds(scored.difference_seconds);
    message.set_difference_error_seconds(scored.difference_error_seconds);
    message.set_stopped_early(scored.stopped_early);
  }
}

void SetNodes(const NodeList& nodes, prism::v1::Placement& message) {
  for (const int64_t node : nodes) {
    message.add_nodes(static_cast<uint32_t>(node));
  }
}

void SetOptimum(const placement::OptimizeResult& result,
                prism::v1::OptimizePlacementResponse& message) {
  if (!result.feasible) {
    message.set_infeasible_reason(result.infeasible_reason);
    return;
  }
  SetNodes(result.nodes, *message.mutable_placement());
  SetStepTime(result.step_time, *message.mutable_step_time());
  for (const int64_t node : result.spares) {
    message.add_spares(static_cast<uint32_t>(node));
  }
  message.set_exact(result.exact);
  message.set_bound_seconds(result.bound_seconds);
  message.set_gap(result.gap);
  message.set_evaluated(static_cast<uint64_t>(result.evaluated));
  for (const placement::ComparedPlacement& other : result.compared_with) {
    auto& compared = *message.add_compared_with();
    compared.set_name(other.name);
    SetStepTime(other.step_time, *compared.mutable_step_time());
    compared.set_ratio(other.ratio);
  }
}

}  // namespace

std::string CanonicalForm(const ScoreQuestion& question) {
  CanonicalWriter out;
  out.Text(0, "prism.score.1");
  WriteAll(out, question);
  for (const std::string& name : question.names) out.Text(22, name);
  return out.Take();
}

std::string CanonicalForm(const OptimizeQuestion& question) {
  CanonicalWriter out;
  out.Text(0, "prism.optimize.1");
  WriteAll(out, question);
  return out.Take();
}

std::string CanonicalForm(const RankQuestion& question) {
  CanonicalWriter out;
  out.Text(0, "prism.rank.1");
  WriteSetting(out, question.request);
  Write(out, 2, question.request.nodes);
  out.Number(3, question.request.class_width);
  // Told in the answer.
  for (const std::string& name : question.request.cluster.node_names) {
    out.Text(6, name);
  }
  return out.Take();
}

std::string ClusterForm(const ScoreQuestion& question) {
  return ClusterForm(question.request.cluster, ClusterParts::kSpeeds);
}

std::string ClusterForm(const OptimizeQuestion& question) {
  return ClusterForm(question.request.cluster, ClusterParts::kSpeeds);
}

std::string ClusterForm(const RankQuestion& question) {
  return ClusterForm(question.request.cluster, ClusterParts::kSpeeds);
}

absl::StatusOr<prism::v1::ScorePlacementsResponse> ScorePlacements(
    const ScoreQuestion& question, const base::Budget& budget,
    base::Executor& executor) {
  auto result = placement::ScorePlacements(question.request, budget, executor);
  if (!result.ok()) return result.status();
  prism::v1::ScorePlacementsResponse response;
  SetScores(*result, question.names, response.mutable_placements());
  if (auto status = SetMemoryVerdict(question.request,
                                     question.request.placements[0], response);
      !status.ok()) {
    return status;
  }
  step::Quality quality = result->quality;
  for (const auto& what_if : question.what_ifs) {
    result = placement::ScorePlacements(what_if.request, budget, executor);
    if (!result.ok()) return result.status();
    auto& message = *response.add_what_ifs();
    message.set_name(what_if.name);
    SetScores(*result, question.names, message.mutable_placements());
    quality = Worse(quality, result->quality);
  }
  SetProvenance(quality, budget, *response.mutable_provenance());
  return response;
}

absl::StatusOr<prism::v1::OptimizePlacementResponse> OptimizePlacement(
    const OptimizeQuestion& question, const base::Budget& budget,
    base::Executor& executor) {
  auto result =
      placement::OptimizePlacement(question.request, budget, executor);
  if (!result.ok()) return result.status();
  prism::v1::OptimizePlacementResponse response;
  SetOptimum(*result, response);
  if (result->feasible) {
    if (auto status =
            SetMemoryVerdict(question.request, result->nodes, response);
        !status.ok()) {
      return status;
    }
  }
  step::Quality quality = result->quality;
  for (const auto& what_if : question.what_ifs) {
    result = placement::OptimizePlacement(what_if.request, budget, executor);
    if (!result.ok()) return result.status();
    auto& message = *response.add_what_ifs();
    message.set_name(what_if.name);
    if (result->feasible) {
      SetNodes(result->nodes, *message.mutable_placement());
      SetStepTime(result->step_time, *message.mutable_step_time());
    } else {
      response.mutable_provenance()->add_notes(absl::StrCat(
          "what if ", what_if.name, ": ", result->infeasible_reason));
    }
    quality = Worse(quality, result->quality);
  }
  SetProvenance(quality, budget, *response.mutable_provenance());
  return response;
}

absl::StatusOr<prism::v1::RankNodesResponse> RankNodes(
    const RankQuestion& question, const base::Budget& budget, base::Executor&) {
  const auto ranked = placement::RankNodes(question.request, budget);
  if (!ranked.ok()) return ranked.status();
  constexpr prism::v1::Health kHealth[] = {
      prism::v1::HEALTH_HEALTHY, prism::v1::HEALTH_DEGRADED,
      prism::v1::HEALTH_DRAINED, prism::v1::HEALTH_FAILED};
  prism::v1::RankNodesResponse response;
  const auto& names = question.request.cluster.node_names;
  for (const placement::RankedNode& node : *ranked) {
    auto& message = *response.add_nodes();
    message.set_node(static_cast<uint32_t>(node.node));
    if (!names.empty()) message.set_name(names[node.node]);
    message.set_performance_class(
        static_cast<uint32_t>(node.performance_class));
    message.set_relative_slowdown(node.relative_slowdown);
    message.set_straggler_probability(node.straggler_probability);
    message.set_health(kHealth[static_cast<int>(node.health)]);
  }
  SetProvenance(step::Quality::kExact, budget, *response.mutable_provenance());
  return response;
}

}  // namespace prism::query
