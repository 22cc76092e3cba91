// Why a step takes as long as it does: the question and its answer.
#ifndef PRISM_CORE_QUERY_EXPLAIN_VARIABILITY_H_
#define PRISM_CORE_QUERY_EXPLAIN_VARIABILITY_H_

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/base/violations.h"
#include "core/query/question.h"
#include "prism/v1/explain_service.pb.h"

namespace prism::query {

struct ExplainQuestion {
  Question step;
  std::vector<prism::v1::StepChange> what_ifs;  // each can be made
};

// Checks `message`, whose cluster is there if it has a job, and converts it.
// Adds every violation to `violations`, with paths that begin with `path`.
// Returns nothing if there was any.
std::optional<ExplainQuestion> ReadExplainQuestion(
    const prism::v1::ExplainVariabilityRequest& message,
    const std::string& path, base::Violations& violations);

// As of a Question, with the names of segments, which the answer has.
std::string CanonicalForm(const ExplainQuestion& question);

// The part of that form that came from the cluster; empty for a profile.
std::string ClusterForm(const ExplainQuestion& question);

// Everything but the parts of the provenance that belong to whoever answers:
// prediction_id, signature, cluster_version, cache and valid_until. A job that
// does not fit into memory is explained as if it did.
//
// Errors: those of explain::Explain and of estimate::BuildEstimate.
absl::StatusOr<prism::v1::ExplainVariabilityResponse> ExplainVariability(
    const ExplainQuestion& question, const base::Budget& budget,
    base::Executor& executor);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_EXPLAIN_VARIABILITY_H_
