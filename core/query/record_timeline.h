// What happens when in a step: the question and its answer.
#ifndef PRISM_CORE_QUERY_RECORD_TIMELINE_H_
#define PRISM_CORE_QUERY_RECORD_TIMELINE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/base/violations.h"
#include "core/query/question.h"
#include "prism/v1/timeline.pb.h"

namespace prism::query {

struct TimelineQuestion {
  Question step;               // by Monte Carlo
  std::vector<int64_t> ranks;  // sorted, each once; all exist
  bool tasks = false;
};

// Checks `message`, whose cluster is there if it has a job, and converts it.
// Adds every violation to `violations`, with paths that begin with `path`.
// Returns nothing if there was any.
std::optional<TimelineQuestion> ReadTimelineQuestion(
    const prism::v1::RecordTimelineRequest& message, const std::string& path,
    base::Violations& violations);

// As of a Question.
std::string CanonicalForm(const TimelineQuestion& question);

// The part of that form that came from the cluster; empty for a profile.
std::string ClusterForm(const TimelineQuestion& question);

// Everything but the parts of the provenance that belong to whoever answers:
// prediction_id, signature, cluster_version, cache and valid_until. A job that
// does not fit into memory is recorded as if it did, and a note says so.
//
// Errors: those of step::RecordTimeline and of estimate::BuildEstimate.
absl::StatusOr<prism::v1::RecordTimelineResponse> RecordTimeline(
    const TimelineQuestion& question, const base::Budget& budget,
    base::Executor& executor);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_RECORD_TIMELINE_H_
