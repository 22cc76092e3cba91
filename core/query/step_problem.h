// The step graph that a question asks about.
#ifndef PRISM_CORE_QUERY_STEP_PROBLEM_H_
#define PRISM_CORE_QUERY_STEP_PROBLEM_H_

#include <absl/status/statusor.h>

#include <optional>

#include "core/estimate/estimate.h"
#include "core/query/question.h"
#include "core/step/step_graph.h"

namespace prism::query {

// A step graph and, for jobs, what else is known about it.
struct StepProblem {
  step::StepGraph graph;
  std::optional<estimate::Estimate> estimate;  // its graph has been moved away
  // No step can be shorter.
  double floor_seconds = 0;
};

// Errors: those of estimate::BuildEstimate.
absl::StatusOr<StepProblem> PoseStep(const Question& question);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_STEP_PROBLEM_H_
