#include "core/query/step_change.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "core/estimate/rank_map.h"
#include "core/explain/rebalance.h"
#include "core/query/node.h"
#include "core/query/step_problem.h"
#include "core/workload/stages.h"

namespace prism::query {
namespace {

namespace v1 = prism::v1;

using step::StepGraph;

constexpr double kLargestFactor = 1000;

absl::Status Wrong(const char* field, const std::string& description) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", description));
}

// As few digits as read back to the same bits.
std::string Shortest(double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return std::string(digits, end);
}

absl::StatusOr<explain::Source> SourceOf(const char* field,
                                         const std::string& name,
                                         const Question& question,
                                         const StepGraph& graph) {
  auto source = explain::FindSource(graph, RankGroupsOf(question), name);
  if (source.ok()) return source;
  return Wrong(field, absl::StrCat("is ", Quote(name), ", which ",
                                   std::string(source.status().message())));
}

using Graphs = std::vector<ChangedGraph>;

absl::StatusOr<Graphs> Scaled(const v1::ScaleSource& scale,
                              const Question& question,
                              const StepGraph& graph) {
  const auto source = SourceOf("scale.source", scale.source(), question, graph);
  if (!source.ok()) return source.status();
  const bool of_ranks = !source->ranks.empty();
  if (!(scale.factor() >= 0 && scale.factor() <= kLargestFactor) ||
      (of_ranks && scale.factor() == 0)) {
    return Wrong("scale.factor",
                 absl::StrCat("is ", scale.factor(), "; must be ",
                              of_ranks ? "above 0" : "from 0", " and at most ",
                              kLargestFactor));
  }
  return Graphs{{explain::WithScaled(graph, *source, scale.factor())}};
}

absl::StatusOr<Graphs> Frozen(const std::string& name, const Question& question,
                              const StepGraph& graph) {
  const auto source = SourceOf("freeze", name, question, graph);
  if (!source.ok()) return source.status();
  return Graphs{{explain::WithTypical(graph, *source)}};
}

absl::StatusOr<Graphs> Replaced(uint32_t rank, const StepGraph& graph) {
  if (rank >= graph.grid.ranks()) {
    return Wrong("replace_rank",
                 absl::StrCat("is ", rank, "; must be from 0 to ",
                              graph.grid.ranks() - 1));
  }
  return Graphs{{explain::WithTypical(
      graph, {.by = explain::By::kRank, .name = "", .ranks = {rank}})}};
}

absl::StatusOr<Graphs> Sorted(const StepGraph& graph) {
  if (graph.is_continuous()) {
    return Wrong("sort_sequences",
                 "is not allowed where steps follow each other without a "
                 "flush");
  }
  Graphs graphs;
  for (const auto& [order, how] :
       {std::pair{step::LoadOrder::kLongestFirst, "the longest first"},
        {step::LoadOrder::kShortestFirst, "the shortest first"}}) {
    ChangedGraph sorted = {graph, how};
    bool has_loads = false;
    for (step::SharedFactor& factor : sorted.graph.shared_factors) {
      if (factor.scope != step::FactorScope::kReplicaMicrobatch ||
          factor.distribution.IsConstant()) {
        continue;
      }
      factor.order = order;
      has_loads = true;
    }
    if (!has_loads) {
      return Wrong("sort_sequences",
                   "is not allowed; all micro-batches have the same load");
    }
    graphs.push_back(std::move(sorted));
  }
  return graphs;
}

// --- stages ---

std::vector<explain::StagePart> PartsOf(const workload::Job& job,
                                        const std::vector<double>& fixed) {
  const workload::Parallelism& split = job.parallelism;
  const int64_t parts = workload::ModelStages(split);
  std::vector<explain::StagePart> list(static_cast<size_t>(parts));
  for (int64_t u = 0; u < workload::VirtualStages(split); ++u) {
    explain::StagePart& part = list[static_cast<size_t>(u % parts)];
    part.stages.push_back(static_cast<int>(workload::StageOf(split, u)));
    part.fixed_seconds = fixed[static_cast<size_t>(u)];
  }
  // An embedding or a head may stand alone.
  list.front().fewest_layers = 0;
  list.back().fewest_layers = 0;
  return list;
}

absl::StatusOr<Graphs> Rebalanced(const JobSubject& subject,
                                  const Question& question,
                                  const StepGraph& graph) {
  const auto seconds =
      explain::SplitSeconds(graph, {"layer", "recomputed_layer"});
  double of_layers = 0, layers = 0;
  for (size_t u = 0; u < seconds.named.size(); ++u) {
    of_layers += seconds.named[u];
    layers += static_cast<double>(
        workload::LayersOfVirtualStage(subject.job, static_cast<int64_t>(u)));
  }
  ChangedGraph as_is = {graph, "as they are"};
  for (int64_t u = 0; u < workload::ModelStages(subject.job.parallelism); ++u) {
    as_is.stage_layers.push_back(
        workload::LayersOfVirtualStage(subject.job, u));
  }
  Question other = question;
  auto& job = std::get<JobSubject>(other.subject).job;
  ChangedGraph balanced;
  balanced.stage_layers = explain::BalancedLayers(
      PartsOf(subject.job, seconds.others), explain::SlowdownOfStages(graph),
      of_layers / layers, subject.job.model.layers);
  job.parallelism.stage_layers = balanced.stage_layers;
  auto problem = PoseStep(other);
  if (!problem.ok()) return problem.status();
  balanced.graph = std::move(problem->graph);
  if (problem->estimate && !problem->estimate->feasible) {
    balanced.how = absl::StrCat("which does not fit into memory: ",
                                problem->estimate->infeasible_reason);
  }
  return Graphs{std::move(as_is), std::move(balanced)};
}

absl::StatusOr<Graphs> Rebalanced(const step::StepProfile& profile,
                                  const Question& question,
                                  const StepGraph& graph) {
  if (profile.schedule == step::ScheduleKind::kRoundRobin) {
    return Wrong("rebalance_stages",
                 "is not allowed; workers of round-robin hold no stages");
  }
  ChangedGraph as_is = {graph, "as they are"};
  as_is.stage_scale = graph.stage_scale;
  as_is.stage_scale.resize(graph.stage_of.size(), 1);
  Question other = question;
  auto& changed = std::get<step::StepProfile>(other.subject);
  ChangedGraph balanced;
  balanced.stage_scale = explain::BalancedScales(
      graph.stage_of, graph.stage_scale, explain::SlowdownOfStages(graph));
  changed.stage_scale = balanced.stage_scale;
  auto problem = PoseStep(other);
  if (!problem.ok()) return problem.status();
  balanced.graph = std::move(problem->graph);
  return Graphs{std::move(as_is), std::move(balanced)};
}

absl::StatusOr<Graphs> Rebalanced(const Question& question,
                                  const StepGraph& graph) {
  if (graph.grid.stages == 1) {
    return Wrong("rebalance_stages", "is not allowed; there is one stage");
  }
  return std::visit(
      [&](const auto& subject) { return Rebalanced(subject, question, graph); },
      question.subject);
}

}  // namespace

std::string ChangeText(const v1::StepChange& change) {
  switch (change.change_case()) {
    case v1::StepChange::kScale:
      return absl::StrCat("scale:", change.scale().source(), "=",
                          Shortest(change.scale().factor()));
    case v1::StepChange::kFreeze:
      return absl::StrCat("freeze:", change.freeze());
    case v1::StepChange::kReplaceRank:
      return absl::StrCat("replace-rank:", change.replace_rank());
    case v1::StepChange::kRebalanceStages:
      return "rebalance-stages";
    case v1::StepChange::kSortSequences:
      return "sort-sequences";
    case v1::StepChange::CHANGE_NOT_SET:
      break;
  }
  return "";
}

absl::StatusOr<v1::StepChange> ParseChange(const std::string& text) {
  v1::StepChange change;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "freeze:") && !rest.empty()) {
    change.set_freeze(std::string(rest));
    return change;
  }
  if (absl::ConsumePrefix(&rest, "replace-rank:")) {
    uint32_t rank = 0;
    if (absl::SimpleAtoi(rest, &rank)) {
      change.set_replace_rank(rank);
      return change;
    }
  }
  if (absl::ConsumePrefix(&rest, "scale:")) {
    const size_t equals = rest.rfind('=');
    double factor = 0;
    if (equals != absl::string_view::npos && equals > 0 &&
        absl::SimpleAtod(rest.substr(equals + 1), &factor)) {
      change.mutable_scale()->set_source(std::string(rest.substr(0, equals)));
      change.mutable_scale()->set_factor(factor);
      return change;
    }
  }
  if (rest == "rebalance-stages") {
    change.mutable_rebalance_stages();
    return change;
  }
  if (rest == "sort-sequences") {
    change.mutable_sort_sequences();
    return change;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("is ", Quote(text),
                   "; must be scale:SOURCE=FACTOR, freeze:SOURCE, "
                   "replace-rank:RANK, rebalance-stages or sort-sequences"));
}

std::vector<explain::RankGroup> RankGroupsOf(const Question& question) {
  const auto* subject = std::get_if<JobSubject>(&question.subject);
  if (subject == nullptr) return {};
  const estimate::RankMap map(subject->job.parallelism, subject->cluster,
                              subject->placement);
  std::map<int64_t, std::vector<int64_t>> by_node;
  int64_t rank = 0;
  for (int64_t replica = 0; replica < map.replicas(); ++replica) {
    for (int64_t stage = 0; stage < map.stages(); ++stage) {
      for (int64_t lane = 0; lane < map.lanes(); ++lane) {
        by_node[map.Node(replica, stage, lane)].push_back(rank++);
      }
    }
  }
  std::vector<explain::RankGroup> groups;
  for (auto& [node, ranks] : by_node) {
    groups.push_back({absl::StrCat("node ", node), std::move(ranks)});
  }
  return groups;
}

absl::StatusOr<std::vector<ChangedGraph>> Change(const v1::StepChange& change,
                                                 const Question& question,
                                                 const StepGraph& graph) {
  switch (change.change_case()) {
    case v1::StepChange::kScale:
      return Scaled(change.scale(), question, graph);
    case v1::StepChange::kFreeze:
      return Frozen(change.freeze(), question, graph);
    case v1::StepChange::kReplaceRank:
      return Replaced(change.replace_rank(), graph);
    case v1::StepChange::kRebalanceStages:
      return Rebalanced(question, graph);
    case v1::StepChange::kSortSequences:
      return Sorted(graph);
    case v1::StepChange::CHANGE_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      ": changes nothing; must have scale, freeze, replace_rank, "
      "rebalance_stages or sort_sequences");
}

}  // namespace prism::query
