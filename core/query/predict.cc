#include "core/query/predict.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/estimate/estimate.h"
#include "core/query/memory_message.h"
#include "core/query/step_problem.h"
#include "core/query/step_time_message.h"
#include "core/step/simulate.h"
#include "core/step/streams/mean_kinds.h"

namespace prism::query {
namespace {

using prism::v1::Prediction;

constexpr size_t kMedian = 3;  // index into step::kQuantileLevels
static_assert(step::kQuantileLevels[kMedian] == 0.5);

struct Solution {
  step::NominalStep nominal;
  step::StepTime time;
  // Of simulated steps; where communication runs beside computation.
  std::optional<step::KindTimes> mean;
};

absl::Status CheckTime(const char* what, double seconds, double floor) {
  if (std::isfinite(seconds) && seconds >= floor) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(what, " is ", seconds, " s; must be finite and at least ",
                   floor, " s, the executed FLOPs over peak"));
}

// A result that cannot be is never given as an answer.
absl::Status CheckSolution(const Solution& solution, double floor) {
  absl::Status status =
      CheckTime("nominal step", solution.nominal.seconds, floor);
  status.Update(CheckTime("mean step", solution.time.mean_seconds, floor));
  status.Update(CheckTime("standard deviation of the step",
                          solution.time.standard_deviation_seconds, 0));
  for (size_t i = 0; i < step::kQuantileLevels.size(); ++i) {
    const std::string name =
        absl::StrCat("quantile ", step::kQuantileLevels[i]);
    status.Update(
        CheckTime(name.c_str(), solution.time.quantile_seconds[i], floor));
    status.Update(CheckTime("standard error",
                            solution.time.standard_error_seconds[i], 0));
  }
  return status;
}

absl::StatusOr<Solution> Solve(const StepProblem& problem,
                               const Question& question,
                               const base::Budget& budget,
                               base::Executor& executor) {
  absl::StatusOr<step::NominalStep> nominal =
      step::SimulateNominal(problem.graph);
  if (!nominal.ok()) return nominal.status();
  const step::SimulationOptions options = {.method = question.method,
                                           .samples = question.samples,
                                           .random_key = RandomKey(question)};
  const absl::StatusOr<step::StepTime> time =
      step::Simulate(problem.graph, options, budget, executor);
  if (!time.ok()) return time.status();
  Solution solution = {*std::move(nominal), *time, std::nullopt};
  if (time->method == step::Method::kMonteCarlo) {
    auto mean = step::SimulateMeanKinds(problem.graph, options.random_key,
                                        time->samples, budget, executor);
    if (!mean.ok()) return mean.status();
    solution.mean = *std::move(mean);
  }
  const absl::Status status = CheckSolution(solution, problem.floor_seconds);
  if (!status.ok()) return status;
  return solution;
}

void SetTimes(const Solution& solution, Prediction& prediction) {
  const step::StepTime& time = solution.time;
  SetStepTime(time, *prediction.mutable_step_time());
  prediction.set_nominal_step_seconds(solution.nominal.seconds);
  prediction.set_method(time.method == step::Method::kAuto
                            ? prism::v1::METHOD_AUTO
                            : prism::v1::METHOD_MONTECARLO);
  prediction.set_quality(time.quality == step::Quality::kReduced
                             ? prism::v1::QUALITY_REDUCED
                             : prism::v1::QUALITY_EXACT);
  auto& sampling = *prediction.mutable_sampling();
  sampling.set_samples(static_cast<uint64_t>(time.samples));
  SetQuantiles(time.standard_error_seconds, *sampling.mutable_standard_error());
}

// The seconds of `kind`; 0 where there are none.
double Of(const std::map<std::string, double>& seconds,
          const std::string& kind) {
  const auto found = seconds.find(kind);
  return found == seconds.end() ? 0 : found->second;
}

void SetBreakdown(const Solution& solution, Prediction& prediction) {
  for (const auto& [kind, seconds] : solution.nominal.by_kind) {
    auto& entry = *prediction.add_breakdown();
    entry.set_kind(kind);
    entry.set_seconds(seconds);
    entry.set_busy_seconds(Of(solution.nominal.busy_by_kind, kind));
    if (!solution.mean) continue;
    entry.set_mean_seconds(Of(solution.mean->by_kind, kind));
    entry.set_mean_busy_seconds(Of(solution.mean->busy_by_kind, kind));
  }
}

void SetThroughput(const workload::Job& job, const estimate::Estimate& estimate,
                   double median_seconds, Prediction& prediction) {
  const double gpus = static_cast<double>(job.parallelism.gpus());
  const double flops = estimate.model_flops / (gpus * median_seconds);
  const double tokens = static_cast<double>(job.training.sequence) *
                        static_cast<double>(job.training.global_batch);
  prediction.set_tokens_per_second(tokens / median_seconds);
  prediction.set_tflops_per_gpu(flops / 1e12);
  prediction.set_model_flops_utilization(flops / estimate.peak_flops_per_gpu);
}

void SetJobFigures(const workload::Job& job, const estimate::Estimate& estimate,
                   const Solution& solution, Prediction& prediction) {
  prediction.set_feasible(estimate.feasible);
  prediction.set_infeasible_reason(estimate.infeasible_reason);
  *prediction.mutable_memory() =
      MemoryMessage(job, estimate.memory_capacity_bytes);
  SetThroughput(job, estimate, solution.time.quantile_seconds[kMedian],
                prediction);
  for (const std::string& note : estimate.notes) prediction.add_notes(note);
}

}  // namespace

absl::StatusOr<Prediction> Predict(const Question& question,
                                   const base::Budget& budget,
                                   base::Executor& executor) {
  const absl::StatusOr<StepProblem> problem = PoseStep(question);
  if (!problem.ok()) return problem.status();
  const absl::StatusOr<Solution> solution =
      Solve(*problem, question, budget, executor);
  if (!solution.ok()) return solution.status();
  Prediction prediction;
  prediction.set_model_version(ModelVersion());
  prediction.set_feasible(true);
  SetTimes(*solution, prediction);
  SetBreakdown(*solution, prediction);
  if (problem->estimate) {
    SetJobFigures(std::get<JobSubject>(question.subject).job,
                  *problem->estimate, *solution, prediction);
  }
  prediction.mutable_sampling()->set_elapsed_seconds(
      absl::ToDoubleSeconds(budget.Elapsed()));
  return prediction;
}

}  // namespace prism::query
