#include "core/query/explain_variability.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "core/explain/explain.h"
#include "core/query/canonical_form.h"
#include "core/query/canonical_writer.h"
#include "core/query/checker.h"
#include "core/query/explanation_words.h"
#include "core/query/field_path.h"
#include "core/query/step_change.h"
#include "core/query/step_problem.h"
#include "core/query/step_time_message.h"
#include "core/query/what_if.h"

namespace prism::query {
namespace {

namespace v1 = prism::v1;

constexpr std::string_view kSchema = "prism.explain.1";

constexpr size_t kMedian = 3, kP95 = 5;  // in step::kQuantileLevels
static_assert(step::kQuantileLevels[kMedian] == 0.5 &&
              step::kQuantileLevels[kP95] == 0.95);

v1::Question StepQuestion(const v1::ExplainVariabilityRequest& message) {
  v1::Question question;
  if (message.has_job()) *question.mutable_job() = message.job();
  if (message.has_profile()) *question.mutable_profile() = message.profile();
  if (message.has_cluster()) *question.mutable_cluster() = message.cluster();
  if (message.has_placement()) {
    *question.mutable_placement() = message.placement();
  }
  question.set_cluster_name(message.cluster_name());
  question.set_variation(message.variation());
  question.set_samples(message.samples());
  return question;
}

// Makes every change to find out whether it can be made.
void CheckChanges(const v1::ExplainVariabilityRequest& message,
                  const Question& step, const FieldPath& list,
                  Checker& checker) {
  if (message.what_ifs().empty()) return;
  const auto problem = PoseStep(step);
  if (!problem.ok()) return;  // said where it is answered
  for (int i = 0; i < message.what_ifs_size(); ++i) {
    const auto changed = Change(message.what_ifs(i), step, problem->graph);
    if (changed.ok() || !absl::IsInvalidArgument(changed.status())) continue;
    const std::string text(changed.status().message());
    const size_t colon = text.find(": ");
    const FieldPath item = list.Item(i);
    const std::string field = text.substr(0, colon);
    const std::string what = text.substr(colon + 2);
    checker.Fail(field.empty() ? item : item.Field(field), what);
  }
}

// --- the answer ---

// One change, as the core sees it: as many graphs as there are ways.
struct PosedChange {
  size_t first = 0;  // of all graphs
  std::vector<ChangedGraph> ways;
};

absl::StatusOr<std::vector<PosedChange>> PoseChanges(
    const ExplainQuestion& question, const step::StepGraph& graph,
    std::vector<step::StepGraph>& graphs) {
  std::vector<PosedChange> posed;
  for (const v1::StepChange& change : question.what_ifs) {
    auto ways = Change(change, question.step, graph);
    if (!ways.ok()) return ways.status();
    PosedChange one = {graphs.size(), *std::move(ways)};
    for (ChangedGraph& way : one.ways) graphs.push_back(std::move(way.graph));
    posed.push_back(std::move(one));
  }
  return posed;
}

v1::CauseBy ByMessage(explain::By by) {
  switch (by) {
    case explain::By::kKind:
      return v1::CAUSE_BY_KIND;
    case explain::By::kCollective:
      return v1::CAUSE_BY_COLLECTIVE;
    case explain::By::kShared:
      return v1::CAUSE_BY_SHARED;
    case explain::By::kStage:
      return v1::CAUSE_BY_STAGE;
    case explain::By::kRank:
      return v1::CAUSE_BY_RANK;
  }
  return v1::CAUSE_BY_UNSPECIFIED;
}

// All differences are to the one step that the answer shows.
void SetWithout(const explain::StepWithout& without, const step::StepTime& base,
                v1::StepWithout& message) {
  message.set_mean_seconds(base.mean_seconds + without.mean.value);
  message.set_p50_seconds(base.quantile_seconds[kMedian] + without.p50.value);
  message.set_p95_seconds(base.quantile_seconds[kP95] + without.p95.value);
  message.set_mean_error_seconds(without.mean.standard_error);
  message.set_p50_error_seconds(without.p50.standard_error);
  message.set_p95_error_seconds(without.p95.standard_error);
}

void SetCause(const explain::Cause& cause, const step::StepTime& base,
              v1::Cause& message) {
  message.set_by(ByMessage(cause.source.by));
  message.set_name(cause.source.name);
  message.set_share_of_mean(cause.share_of_mean);
  message.set_share_of_variance(cause.share_of_variance.value);
  message.set_share_of_variance_error(cause.share_of_variance.standard_error);
  message.set_criticality(cause.criticality);
  SetWithout(cause.without, base, *message.mutable_without());
  message.set_excess(cause.source.excess);
  message.set_own_deviation_seconds(cause.own_deviation_seconds);
}

// "10, 3 x 12, 10" of 10, 12, 12, 12, 10.
template <typename Number>
std::string RunsOf(const std::vector<Number>& numbers) {
  std::vector<std::string> runs;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i;
    while (end < numbers.size() && numbers[end] == numbers[i]) ++end;
    const std::string number =
        absl::StrFormat("%.4g", static_cast<double>(numbers[i]));
    runs.push_back(end - i < 3 ? number : absl::StrCat(end - i, " x ", number));
    i = end - i < 3 ? i + 1 : end;
  }
  return absl::StrJoin(runs, ", ");
}

// "layers 10, 12, 10", "scales 1, 1.2".
std::string SplitText(const ChangedGraph& way) {
  if (!way.stage_layers.empty()) {
    return absl::StrCat("layers ", RunsOf(way.stage_layers));
  }
  if (!way.stage_scale.empty()) {
    return absl::StrCat("scales ", RunsOf(way.stage_scale));
  }
  return "";
}

// "rebalance-stages (layers 10, 12, 10)"
std::string WhatWasDone(const std::string& change, const ChangedGraph& way) {
  std::vector<std::string> parts;
  for (const std::string& part : {SplitText(way), way.how}) {
    if (!part.empty()) parts.push_back(part);
  }
  if (parts.empty()) return change;
  return absl::StrCat(change, " (", absl::StrJoin(parts, "; "), ")");
}

// Of the ways in which a change can be made that with the shortest mean.
void SetChange(const v1::StepChange& change, const PosedChange& posed,
               const explain::Explanation& explained,
               v1::Explanation& explanation) {
  size_t best = 0;
  const auto mean = [&](size_t way) {
    return explained.changes[posed.first + way].without.mean.value;
  };
  for (size_t way = 1; way < posed.ways.size(); ++way) {
    if (mean(way) < mean(best)) best = way;
  }
  const ChangedGraph& way = posed.ways[best];
  const explain::Changed& changed = explained.changes[posed.first + best];
  v1::ChangedStep& message = *explanation.add_what_ifs();
  message.set_change(ChangeText(change));
  SetStepTime(changed.time, *message.mutable_step_time());
  SetWithout(changed.without, explained.time, *message.mutable_step());
  message.set_sentence(ChangeSentence(WhatWasDone(message.change(), way),
                                      explanation, message.step()));
  for (const int64_t layers : way.stage_layers) {
    message.add_stage_layers(static_cast<uint32_t>(layers));
  }
  for (const double scale : way.stage_scale) message.add_stage_scale(scale);
}

void SetExplanation(const ExplainQuestion& question,
                    const std::vector<PosedChange>& posed,
                    const explain::Explanation& explained,
                    v1::Explanation& explanation) {
  SetStepTime(explained.time, *explanation.mutable_step_time());
  explanation.set_samples(static_cast<uint64_t>(explained.samples));
  explanation.set_method(explained.method == step::Method::kAuto
                             ? v1::METHOD_AUTO
                             : v1::METHOD_MONTECARLO);
  explanation.set_paths(static_cast<uint64_t>(explained.paths));
  explanation.set_causes_left_out(
      static_cast<uint32_t>(explained.causes_left_out));
  for (const explain::Cause& cause : explained.causes) {
    SetCause(cause, explained.time, *explanation.add_causes());
  }
  for (size_t i = 0; i < posed.size(); ++i) {
    SetChange(question.what_ifs[i], posed[i], explained, explanation);
  }
  for (const std::string& sentence : CauseSentences(explanation)) {
    explanation.add_sentences(sentence);
  }
}

void SetNotes(const explain::Explanation& explained,
              v1::Provenance& provenance) {
  if (explained.paths == 0) {
    provenance.add_notes(
        "critical paths were not followed: the step is too large, runs tasks "
        "beside each other or left no time; shares of the mean and "
        "criticalities are 0");
  }
  if (explained.causes_left_out > 0) {
    provenance.add_notes(absl::StrCat(
        explained.causes_left_out,
        " stages or ranks were left out; those shown have the most to do or "
        "are the slowest"));
  }
}

}  // namespace

std::optional<ExplainQuestion> ReadExplainQuestion(
    const v1::ExplainVariabilityRequest& message, const std::string& path,
    base::Violations& violations) {
  auto step = ReadQuestion(StepQuestion(message), path, violations);
  Checker checker(violations);
  const FieldPath root(path);
  const FieldPath list = root.Field("what_ifs");
  const bool few = checker.Require(
      message.what_ifs_size() <= kMostWhatIfs, list,
      absl::StrCat("has ", message.what_ifs_size(),
                   " entries; must have at most ", kMostWhatIfs));
  if (!step || !few) return std::nullopt;
  CheckChanges(message, *step, list, checker);
  if (checker.failures() > 0) return std::nullopt;
  ExplainQuestion question;
  question.step = *std::move(step);
  question.what_ifs.assign(message.what_ifs().begin(),
                           message.what_ifs().end());
  return question;
}

std::string CanonicalForm(const ExplainQuestion& question) {
  CanonicalWriter out;
  out.Text(0, kSchema);
  out.Text(1, CanonicalForm(question.step));
  out.List(2, question.what_ifs.size());
  for (const v1::StepChange& change : question.what_ifs) {
    out.Text(1, ChangeText(change));
  }
  const auto* profile = std::get_if<step::StepProfile>(&question.step.subject);
  if (profile == nullptr) return out.Take();
  for (const auto* segments :
       {&profile->forward, &profile->backward, &profile->backward_input,
        &profile->backward_weight}) {
    out.List(3, segments->size());
    for (const step::ProfileSegment& segment : *segments) {
      out.Text(1, segment.name);
    }
  }
  return out.Take();
}

std::string ClusterForm(const ExplainQuestion& question) {
  return CanonicalForm(question.step, CanonicalParts::kCluster);
}

absl::StatusOr<v1::ExplainVariabilityResponse> ExplainVariability(
    const ExplainQuestion& question, const base::Budget& budget,
    base::Executor& executor) {
  const auto problem = PoseStep(question.step);
  if (!problem.ok()) return problem.status();
  std::vector<step::StepGraph> graphs;
  const auto posed = PoseChanges(question, problem->graph, graphs);
  if (!posed.ok()) return posed.status();
  const auto explained =
      explain::Explain(problem->graph, graphs,
                       {.rank_groups = RankGroupsOf(question.step),
                        .samples = question.step.samples,
                        .random_key = RandomKey(question.step)},
                       budget, executor);
  if (!explained.ok()) return explained.status();
  v1::ExplainVariabilityResponse response;
  response.set_feasible(true);
  if (problem->estimate) {
    response.set_feasible(problem->estimate->feasible);
    response.set_infeasible_reason(problem->estimate->infeasible_reason);
  }
  v1::Provenance& provenance = *response.mutable_provenance();
  provenance.set_model_version(ModelVersion());
  provenance.set_quality(explained->quality == step::Quality::kReduced
                             ? v1::QUALITY_REDUCED
                             : v1::QUALITY_EXACT);
  SetExplanation(question, *posed, *explained, *response.mutable_explanation());
  SetNotes(*explained, provenance);
  provenance.set_elapsed_seconds(absl::ToDoubleSeconds(budget.Elapsed()));
  return response;
}

}  // namespace prism::query
