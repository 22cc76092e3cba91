// When will a job be done: the question and its answer.
#ifndef PRISM_CORE_QUERY_PROJECT_COMPLETION_H_
#define PRISM_CORE_QUERY_PROJECT_COMPLETION_H_

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/base/violations.h"
#include "core/completion/run_plan.h"
#include "core/query/question.h"
#include "prism/v1/completion_service.pb.h"

namespace prism::query {

// One run that is asked about.
struct CompletionCase {
  std::string name;
  // What a step takes.
  Question step;
  // Whether `step` is another question than that of the run itself.
  bool own_step = false;
  completion::RunPlan plan;  // without step times
};

struct CompletionQuestion {
  CompletionCase run;
  std::vector<CompletionCase> what_ifs;
  // What was assumed where the request said nothing, for people.
  std::vector<std::string> assumptions;
};

// Checks `message`, whose cluster is there if it has a job, and converts it.
// Adds every violation to `violations`, with paths that begin with `path`.
// Returns nothing if there was any.
std::optional<CompletionQuestion> ReadCompletionQuestion(
    const prism::v1::ProjectCompletionRequest& message, const std::string& path,
    base::Violations& violations);

// As of a Question.
std::string CanonicalForm(const CompletionQuestion& question);

// The part of that form that came from the cluster; empty for a profile.
std::string ClusterForm(const CompletionQuestion& question);

// Everything but the parts of the provenance that belong to whoever answers:
// prediction_id, signature, cluster_version, cache and valid_until.
//
// All cases share their draws, so what they have in common does not blur what
// tells them apart.
//
// Errors: those of Predict and of completion::Project.
absl::StatusOr<prism::v1::ProjectCompletionResponse> ProjectCompletion(
    const CompletionQuestion& question, const base::Budget& budget,
    base::Executor& executor);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_PROJECT_COMPLETION_H_
