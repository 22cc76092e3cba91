#include "core/query/record_timeline.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "core/query/canonical_form.h"
#include "core/query/canonical_writer.h"
#include "core/query/checker.h"
#include "core/query/field_path.h"
#include "core/query/step_problem.h"
#include "core/query/step_time_message.h"
#include "core/step/timeline/timeline.h"

namespace prism::query {
namespace {

namespace v1 = prism::v1;

constexpr std::string_view kSchema = "prism.timeline.1";
constexpr int kMostAskedRanks = 1024;

v1::Question StepQuestion(const v1::RecordTimelineRequest& message) {
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
  question.set_method(v1::METHOD_MONTECARLO);
  return question;
}

int64_t RanksOf(const Question& question) {
  if (const auto* job = std::get_if<JobSubject>(&question.subject)) {
    return job->job.parallelism.gpus();
  }
  return std::get<step::StepProfile>(question.subject).ranks();
}

// --- the answer ---

v1::TimelineStepKind KindMessage(step::StepKind kind) {
  switch (kind) {
    case step::StepKind::kNominal:
      return v1::TIMELINE_STEP_KIND_NOMINAL;
    case step::StepKind::kTypical:
      return v1::TIMELINE_STEP_KIND_TYPICAL;
    case step::StepKind::kP99:
      return v1::TIMELINE_STEP_KIND_P99;
  }
  return v1::TIMELINE_STEP_KIND_UNSPECIFIED;
}

v1::OperationPhase PhaseMessage(step::Phase phase) {
  switch (phase) {
    case step::Phase::kForward:
      return v1::OPERATION_PHASE_FORWARD;
    case step::Phase::kBackward:
      return v1::OPERATION_PHASE_BACKWARD;
    case step::Phase::kBackwardInput:
      return v1::OPERATION_PHASE_BACKWARD_INPUT;
    case step::Phase::kBackwardWeight:
      return v1::OPERATION_PHASE_BACKWARD_WEIGHT;
  }
  return v1::OPERATION_PHASE_UNSPECIFIED;
}

void SetTask(const step::TimelineTask& task, v1::TimelineTask& message) {
  message.set_kind(static_cast<uint32_t>(task.kind));
  message.set_stream(static_cast<uint32_t>(task.stream));
  message.set_ready_seconds(task.ready_seconds);
  message.set_begin_seconds(task.begin_seconds);
  message.set_end_seconds(task.end_seconds);
}

void SetOperation(const step::TimelineOperation& ran,
                  v1::TimelineOperation& message) {
  message.set_phase(v1::OPERATION_PHASE_CLOSING);
  if (ran.operation) {
    message.set_phase(PhaseMessage(ran.operation->phase));
    message.set_virtual_stage(
        static_cast<uint32_t>(ran.operation->virtual_stage));
    message.set_microbatch(static_cast<uint32_t>(ran.operation->microbatch));
    message.set_id(ran.id);
  }
  message.set_ready_seconds(ran.ready_seconds);
  message.set_begin_seconds(ran.begin_seconds);
  message.set_end_seconds(ran.end_seconds);
  if (ran.input) {
    auto& input = *message.mutable_input();
    input.set_id(ran.input->id);
    input.set_sent_seconds(ran.input->sent_seconds);
    input.set_arrival_seconds(ran.input->arrival_seconds);
  }
  for (const step::TimelineTask& task : ran.tasks) {
    SetTask(task, *message.add_tasks());
  }
}

void SetRank(const step::TimelineRank& rank, v1::TimelineRank& message) {
  message.set_rank(static_cast<uint32_t>(rank.rank));
  message.set_replica(static_cast<uint32_t>(rank.replica));
  message.set_stage(static_cast<uint32_t>(rank.stage));
  message.set_lane(static_cast<uint32_t>(rank.lane));
  for (const step::TimelineOperation& ran : rank.operations) {
    SetOperation(ran, *message.add_operations());
  }
}

void SetStep(const step::TimelineStep& step, v1::TimelineStep& message) {
  message.set_kind(KindMessage(step.kind));
  message.set_step_seconds(step.seconds);
  message.set_sample(static_cast<uint64_t>(step.sample));
  message.set_last_rank(static_cast<uint32_t>(step.last_rank));
  for (const step::TimelineRank& rank : step.ranks) {
    SetRank(rank, *message.add_ranks());
  }
  message.set_ranks_left_out(static_cast<uint32_t>(step.ranks_left_out));
  message.set_ranks_without_tasks(
      static_cast<uint32_t>(step.ranks_without_tasks));
  message.set_operations_left_out(
      static_cast<uint64_t>(step.operations_left_out));
}

void SetShape(const step::StepGraph& graph,
              v1::RecordTimelineResponse& response) {
  response.set_replicas(static_cast<uint32_t>(graph.grid.replicas));
  response.set_stages(static_cast<uint32_t>(graph.grid.stages));
  response.set_lanes(static_cast<uint32_t>(graph.grid.lanes));
  response.set_microbatches(static_cast<uint32_t>(graph.microbatches));
  for (const int stage : graph.stage_of) {
    response.add_stage_of(static_cast<uint32_t>(stage));
  }
  for (const std::string& kind : graph.kinds) response.add_kinds(kind);
}

void SetProvenance(const StepProblem& problem, const step::Timeline& timeline,
                   const base::Budget& budget, v1::Provenance& provenance) {
  provenance.set_model_version(ModelVersion());
  provenance.set_quality(timeline.time.quality == step::Quality::kReduced
                             ? v1::QUALITY_REDUCED
                             : v1::QUALITY_EXACT);
  provenance.set_elapsed_seconds(absl::ToDoubleSeconds(budget.Elapsed()));
  if (problem.estimate && !problem.estimate->feasible) {
    provenance.add_notes(absl::StrCat("the job cannot run: ",
                                      problem.estimate->infeasible_reason));
  }
}

}  // namespace

std::optional<TimelineQuestion> ReadTimelineQuestion(
    const v1::RecordTimelineRequest& message, const std::string& path,
    base::Violations& violations) {
  auto step = ReadQuestion(StepQuestion(message), path, violations);
  Checker checker(violations);
  const FieldPath root(path);
  const FieldPath list = root.Field("ranks");
  checker.Require(
      message.ranks_size() <= kMostAskedRanks, list,
      absl::StrCat("has ", message.ranks_size(), " entries; must have at most ",
                   kMostAskedRanks));
  if (!step) return std::nullopt;
  TimelineQuestion question;
  const int64_t ranks = RanksOf(*step);
  for (int i = 0; i < message.ranks_size(); ++i) {
    question.ranks.push_back(
        checker.Between(message.ranks(i), 0, ranks - 1, list.Item(i)));
  }
  if (checker.failures() > 0) return std::nullopt;
  std::sort(question.ranks.begin(), question.ranks.end());
  question.ranks.erase(
      std::unique(question.ranks.begin(), question.ranks.end()),
      question.ranks.end());
  question.tasks = message.tasks();
  question.step = *std::move(step);
  return question;
}

std::string CanonicalForm(const TimelineQuestion& question) {
  CanonicalWriter out;
  out.Text(0, kSchema);
  out.Text(1, CanonicalForm(question.step));
  out.List(2, question.ranks.size());
  for (const int64_t rank : question.ranks) out.Integer(1, rank);
  out.Integer(3, question.tasks);
  return out.Take();
}

std::string ClusterForm(const TimelineQuestion& question) {
  return CanonicalForm(question.step, CanonicalParts::kCluster);
}

absl::StatusOr<v1::RecordTimelineResponse> RecordTimeline(
    const TimelineQuestion& question, const base::Budget& budget,
    base::Executor& executor) {
  const auto problem = PoseStep(question.step);
  if (!problem.ok()) return problem.status();
  const auto timeline =
      step::RecordTimeline(problem->graph,
                           {.ranks = question.ranks,
                            .tasks = question.tasks,
                            .samples = question.step.samples,
                            .random_key = RandomKey(question.step)},
                           budget, executor);
  if (!timeline.ok()) return timeline.status();
  v1::RecordTimelineResponse response;
  SetProvenance(*problem, *timeline, budget, *response.mutable_provenance());
  for (const step::TimelineStep& step : timeline->steps) {
    SetStep(step, *response.add_steps());
  }
  SetStepTime(timeline->time, *response.mutable_step_time());
  response.set_samples(static_cast<uint64_t>(timeline->time.samples));
  SetShape(problem->graph, response);
  return response;
}

}  // namespace prism::query
