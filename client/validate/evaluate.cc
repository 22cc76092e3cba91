#include "client/validate/evaluate.h"

#include <absl/strings/str_cat.h>

#include <optional>
#include <utility>
#include <variant>

#include "core/base/violations.h"
#include "core/estimate/layer_times.h"
#include "core/estimate/memory.h"
#include "core/estimate/nominal.h"
#include "core/estimate/variation.h"
#include "core/query/question.h"
#include "core/workload/flops.h"
#include "core/workload/parameters.h"

namespace prism::validate {
namespace {

using calibration::Constants;
using query::JobSubject;
using workload::Job;

absl::StatusOr<query::Question> ReadQuestion(const Measured& measured) {
  base::Violations violations;
  auto question = query::ReadQuestion(measured.question, "", violations);
  if (question) return *std::move(question);
  std::string text;
  for (const base::Violation& violation : violations.list()) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", violation.field, ": ",
                    violation.description);
  }
  return absl::InvalidArgumentError(text);
}

const JobSubject& SubjectOf(const query::Question& question) {
  return std::get<JobSubject>(question.subject);
}

// Where nothing varies, no GPU is slower than the others.
estimate::Variation VariationOf(const query::Question& question) {
  return question.variation ? estimate::Variation{}
                            : estimate::Variation::Off();
}

absl::StatusOr<double> StepSeconds(const query::Question& question,
                                   const Constants& constants) {
  const Job& job = SubjectOf(question).job;
  estimate::NominalEvaluator evaluator(job.model, SubjectOf(question).cluster,
                                       constants, VariationOf(question));
  const auto time = evaluator.Evaluate(job.parallelism, job.training);
  if (!time.ok()) return time.status();
  return time->seconds;
}

absl::StatusOr<double> LayerSeconds(const query::Question& question,
                                    Quantity direction,
                                    const Constants& constants) {
  const JobSubject& subject = SubjectOf(question);
  const auto times = estimate::LayerTimesOf(subject.job, subject.cluster,
                                            constants, VariationOf(question));
  if (!times.ok()) return times.status();
  return (direction == Quantity::kLayerForward ? times->forward
                                               : times->backward)
      .total();
}

absl::StatusOr<double> Predict(const query::Question& question,
                               const Measured& measured,
                               const Constants& constants) {
  const Job& job = SubjectOf(question).job;
  switch (measured.quantity) {
    case Quantity::kStep:
    case Quantity::kModelFlops:
    case Quantity::kExecutedFlops:
      return StepSeconds(question, constants);
    case Quantity::kLayerForward:
    case Quantity::kLayerBackward:
      return LayerSeconds(question, measured.quantity, constants);
    case Quantity::kPeakMemory:
      return estimate::PeakMemory(job).allocated();
    case Quantity::kParameters:
      return workload::ParameterCount(workload::MixtureModel{
          job.model, measured.latent_attention, measured.mixture});
  }
  return absl::InternalError("a quantity without a prediction");
}

// Layers are computed once more, the head is not (arXiv 2104.04473, appendix).
double FlopsWithRecomputation(const Job& job) {
  const double head = 6.0 * static_cast<double>(job.training.global_batch) *
                      static_cast<double>(job.training.sequence) *
                      static_cast<double>(job.model.hidden) *
                      static_cast<double>(job.model.vocabulary);
  return (workload::ModelFlops(job) - head) * 4 / 3 + head;
}

// Utilisations become the seconds of a step.
double MeasuredValue(const Measured& measured, const Job& job) {
  const double per_second =
      1e12 * measured.value * static_cast<double>(job.parallelism.gpus());
  switch (measured.quantity) {
    case Quantity::kModelFlops:
      return workload::ModelFlops(job) / per_second;
    case Quantity::kExecutedFlops:
      return FlopsWithRecomputation(job) / per_second;
    default:
      return measured.value;
  }
}

}  // namespace

absl::StatusOr<Outcome> Evaluate(const Measured& measured,
                                 const Constants& constants) {
  if (!measured.not_covered.empty()) {
    return absl::UnimplementedError(measured.not_covered);
  }
  const auto question = ReadQuestion(measured);
  if (!question.ok()) return question.status();
  const auto predicted = Predict(*question, measured, constants);
  if (!predicted.ok()) return predicted.status();
  return Outcome{*predicted, MeasuredValue(measured, SubjectOf(*question).job)};
}

const char* UnitOf(Quantity quantity) {
  switch (quantity) {
    case Quantity::kPeakMemory:
      return "bytes";
    case Quantity::kParameters:
      return "parameters";
    default:
      return "seconds";
  }
}

}  // namespace prism::validate
