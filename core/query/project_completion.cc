#include "core/query/project_completion.h"

#include <cmath>
#include <utility>

#include "core/completion/closed_forms.h"
#include "core/completion/projection.h"
#include "core/query/canonical_form.h"
#include "core/query/canonical_writer.h"
#include "core/query/predict.h"
#include "core/step/step_time.h"

namespace prism::query {
namespace {

using completion::Projection;
using completion::RunPlan;
using prism::v1::Completion;
using prism::v1::Prediction;
using prism::v1::Quantiles;

constexpr std::string_view kSchema = "prism.completion.1";

// --- the canonical form ---

void Write(CanonicalWriter& out, const completion::Slowdown& slowdown) {
  out.Integer(1, slowdown.steps);
  out.Number(2, slowdown.factor);
}

void WriteFailures(CanonicalWriter& out, const RunPlan& plan) {
  const completion::Failures& failures = plan.failures;
  out.Integer(1, failures.nodes);
  out.Number(2, failures.per_node_day);
  out.List(3, failures.of_node.size());
  for (const double rate : failures.of_node) out.Number(1, rate);
  out.Number(4, failures.node_rate_cv);
  out.Number(5, failures.level_cv);
  out.Number(6, failures.node_loss_share);
  WriteDistribution(out, 7, plan.restarts.seconds);
  Write(out, plan.restarts.after);
  out.Integer(8, plan.replacements.spares);
  WriteDistribution(out, 9, plan.replacements.repair_seconds);
  out.List(10, plan.replacements.queue_seconds ? 1 : 0);
  if (plan.replacements.queue_seconds) {
    WriteDistribution(out, 11, *plan.replacements.queue_seconds);
  }
  out.Number(12, plan.preemptions.per_day);
  WriteDistribution(out, 13, plan.preemptions.away_seconds);
  out.Integer(14, plan.preemptions.saves);
}

void WriteProgress(CanonicalWriter& out, const completion::Progress& progress) {
  out.Integer(1, progress.running);
  out.Integer(2, progress.steps_done);
  out.Integer(3, progress.steps_saved.value_or(-1));
  out.Integer(4, progress.timed_steps);
  out.Number(5, progress.timed_mean_seconds);
  out.Integer(6, progress.failures);
  out.Number(7, progress.observed_days);
}

void WritePlan(CanonicalWriter& out, const RunPlan& plan) {
  out.Integer(1, plan.steps);
  out.Number(2, plan.step.autocorrelation);
  out.Number(3, plan.step.run_factor_deviation);
  out.Number(4, plan.step.job_factor_deviation);
  out.Integer(5, plan.evaluations.every_steps);
  WriteDistribution(out, 6, plan.evaluations.seconds);
  Write(out, plan.evaluations.after);
  out.Integer(7, static_cast<int64_t>(plan.checkpoints.choice));
  out.Integer(8, plan.checkpoints.interval_steps);
  out.Number(9, plan.checkpoints.interval_seconds);
  out.Number(10, plan.checkpoints.blocking_seconds);
  out.Number(11, plan.checkpoints.non_blocking_seconds);
  WriteFailures(out, plan);
  WriteProgress(out, plan.progress);
  out.List(12, plan.deadlines_seconds.size());
  for (const double deadline : plan.deadlines_seconds) out.Number(1, deadline);
}

// --- the answer ---

completion::StepTimes StepTimesOf(const Prediction& prediction,
                                  completion::StepTimes times) {
  const prism::v1::StepTime& time = prediction.step_time();
  const Quantiles& q = time.quantiles();
  times.mean_seconds = time.mean_seconds();
  times.standard_deviation_seconds = time.standard_deviation_seconds();
  times.levels.assign(step::kQuantileLevels.begin(),
                      step::kQuantileLevels.end());
  times.quantile_seconds = {q.p01(), q.p05(), q.p25(), q.p50(),
                            q.p75(), q.p95(), q.p99()};
  return times;
}

template <typename Values>
void SetQuantiles(const Values& percentiles, Quantiles& message) {
  const auto at = [&](int percent) { return percentiles[percent - 1]; };
  message.set_p01(at(1));
  message.set_p05(at(5));
  message.set_p25(at(25));
  message.set_p50(at(50));
  message.set_p75(at(75));
  message.set_p95(at(95));
  message.set_p99(at(99));
}

void SetTimeByKind(const Projection& projection, Completion& message) {
  for (const auto& [kind, part] :
       {std::pair{"productive", projection.productive_seconds},
        {"lost", projection.lost_seconds},
        {"writing", projection.writing_seconds},
        {"restart", projection.restart_seconds},
        {"waiting", projection.waiting_seconds},
        {"preempted", projection.away_seconds}}) {
    auto& entry = *message.add_time_by_kind();
    entry.set_kind(kind);
    entry.set_seconds(part.value);
  }
}

double FiniteOrZero(double seconds) {
  return std::isfinite(seconds) ? seconds : 0;
}

void SetIntervals(const Projection& projection, const RunPlan& plan,
                  Completion& message) {
  message.set_checkpoint_interval_seconds(
      FiniteOrZero(projection.checkpoints.seconds));
  message.set_best_checkpoint_interval_seconds(
      FiniteOrZero(projection.checkpoints.best_seconds));
  message.set_first_order_interval_seconds(
      FiniteOrZero(projection.checkpoints.first_order_seconds));
  double per_day =
      static_cast<double>(plan.failures.nodes) * plan.failures.per_node_day;
  if (!plan.failures.of_node.empty()) {
    per_day = 0;
    for (const double rate : plan.failures.of_node) per_day += rate;
  }
  message.set_mean_time_to_failure_seconds(
      FiniteOrZero(completion::MeanTimeToFailureSeconds(1, per_day)));
}

Completion CompletionOf(const Projection& projection, const RunPlan& plan) {
  Completion message;
  auto& time = *message.mutable_completion_time();
  time.set_mean_seconds(projection.finish_seconds.value);
  time.set_standard_deviation_seconds(projection.finish_deviation_seconds);
  SetQuantiles(projection.quantile_seconds, *time.mutable_quantiles());
  message.set_unfinished_share(projection.unfinished_share);
  if (!projection.by_deadline.empty()) {
    message.set_probability_by_deadline(projection.by_deadline[0].value);
    message.set_probability_error(projection.by_deadline[0].standard_error);
  }
  message.set_expected_failures(projection.failures.value);
  message.set_expected_preemptions(projection.preemptions.value);
  message.set_effective_training_time_ratio(projection.effective_ratio.value);
  message.set_lost_work_seconds(projection.lost_seconds.value);
  SetTimeByKind(projection, message);
  SetIntervals(projection, plan, message);
  auto& sampling = *message.mutable_sampling();
  sampling.set_samples(static_cast<uint64_t>(projection.samples));
  SetQuantiles(projection.quantile_error_seconds,
               *sampling.mutable_standard_error());
  return message;
}

// Answers the cases of one question one after the other.
class Answerer {
 public:
  Answerer(const CompletionQuestion& question, const base::Budget& budget,
           base::Executor& executor)
      : question_(question), budget_(budget), executor_(executor) {}

  absl::StatusOr<prism::v1::ProjectCompletionResponse> Answer() {
    auto step = Predict(question_.run.step, budget_, executor_);
    if (!step.ok()) return step.status();
    prism::v1::ProjectCompletionResponse response;
    *response.mutable_step_time() = step->step_time();
    response.set_feasible(step->feasible());
    response.set_infeasible_reason(step->infeasible_reason());
    auto& provenance = *response.mutable_provenance();
    provenance.set_model_version(step->model_version());
    *provenance.mutable_notes() = step->notes();
    for (const std::string& note : question_.assumptions) {
      provenance.add_notes(note);
    }
    Note(step->quality());

    auto completion = Complete(question_.run, *step);
    if (!completion.ok()) return completion.status();
    *response.mutable_completion() = *std::move(completion);
    for (const CompletionCase& what_if : question_.what_ifs) {
      auto other = Ask(what_if, *step);
      if (!other.ok()) return other.status();
      auto& named = *response.add_what_ifs();
      named.set_name(what_if.name);
      *named.mutable_completion() = *std::move(other);
    }
    provenance.set_quality(quality_);
    provenance.set_elapsed_seconds(absl::ToDoubleSeconds(budget_.Elapsed()));
    return response;
  }

 private:
  absl::StatusOr<Completion> Ask(const CompletionCase& what_if,
                                 const Prediction& step) {
    if (!what_if.own_step) return Complete(what_if, step);
    auto other = Predict(what_if.step, budget_, executor_);
    if (!other.ok()) return other.status();
    Note(other->quality());
    return Complete(what_if, *other);
  }

  absl::StatusOr<Completion> Complete(const CompletionCase& one,
                                      const Prediction& step) {
    RunPlan plan = one.plan;
    plan.step = StepTimesOf(step, plan.step);
    const auto projection =
        completion::Project(plan, {.random_key = RandomKey(question_.run.step)},
                            budget_, executor_);
    if (!projection.ok()) return projection.status();
    if (projection->quality == completion::Quality::kReduced) {
      Note(prism::v1::QUALITY_REDUCED);
    }
    return CompletionOf(*projection, plan);
  }

  // The answer is as good as its worst part.
  void Note(prism::v1::Quality quality) {
    if (quality != prism::v1::QUALITY_EXACT) quality_ = quality;
  }

  const CompletionQuestion& question_;
  const base::Budget& budget_;
  base::Executor& executor_;
  prism::v1::Quality quality_ = prism::v1::QUALITY_EXACT;
};

}  // namespace

std::string CanonicalForm(const CompletionQuestion& question) {
  CanonicalWriter out;
  out.Text(0, kSchema);
  out.Text(1, CanonicalForm(question.run.step));
  WritePlan(out, question.run.plan);
  out.List(2, question.what_ifs.size());
  for (const CompletionCase& what_if : question.what_ifs) {
    out.Text(1, what_if.name);  // told in the answer
    out.Text(2, what_if.own_step ? CanonicalForm(what_if.step) : "");
    WritePlan(out, what_if.plan);
  }
  return out.Take();
}

std::string ClusterForm(const CompletionQuestion& question) {
  const auto* subject = std::get_if<JobSubject>(&question.run.step.subject);
  if (subject == nullptr) return "";
  return CanonicalForm(question.run.step, CanonicalParts::kCluster) +
         ClusterForm(subject->cluster, ClusterParts::kWithReliability);
}

absl::StatusOr<prism::v1::ProjectCompletionResponse> ProjectCompletion(
    const CompletionQuestion& question, const base::Budget& budget,
    base::Executor& executor) {
  return Answerer(question, budget, executor).Answer();
}

}  // namespace prism::query
