#include "core/query/step_problem.h"

#include <utility>
#include <variant>

#include "core/step/step_profile.h"

namespace prism::query {
namespace {

absl::StatusOr<StepProblem> Pose(const JobSubject& subject, bool varies) {
  absl::StatusOr<estimate::Estimate> estimate = estimate::BuildEstimate(
      subject.job, subject.cluster, subject.placement, {},
      varies ? estimate::Variation{} : estimate::Variation::Off());
  if (!estimate.ok()) return estimate.status();
  StepProblem problem;
  problem.floor_seconds = estimate->floor_seconds;
  problem.graph = std::move(estimate->graph);
  problem.estimate = *std::move(estimate);
  return problem;
}

absl::StatusOr<StepProblem> Pose(const step::StepProfile& profile, bool) {
  StepProblem problem;
  problem.graph = step::BuildGraph(profile);
  return problem;
}

}  // namespace

absl::StatusOr<StepProblem> PoseStep(const Question& question) {
  return std::visit(
      [&question](const auto& subject) {
        return Pose(subject, question.variation);
      },
      question.subject);
}

}  // namespace prism::query
