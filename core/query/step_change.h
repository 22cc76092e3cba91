// Changes to a step, for the sake of a question: from messages to graphs.
#ifndef PRISM_CORE_QUERY_STEP_CHANGE_H_
#define PRISM_CORE_QUERY_STEP_CHANGE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/explain/source.h"
#include "core/query/question.h"
#include "core/step/step_graph.h"
#include "prism/v1/explanation.pb.h"

namespace prism::query {

// "scale:forward=0.9", "freeze:transfer", "replace-rank:5", "rebalance-stages",
// "sort-sequences".
std::string ChangeText(const prism::v1::StepChange& change);

// The change that `text` says, as above.
//
// Errors: INVALID_ARGUMENT; the message reads on after what was given.
absl::StatusOr<prism::v1::StepChange> ParseChange(const std::string& text);

// Whose ranks are slow or fast together: a job's nodes; empty for a profile.
std::vector<explain::RankGroup> RankGroupsOf(const Question& question);

// A step under a change.
struct ChangedGraph {
  step::StepGraph graph;
  // What was done, where the change leaves that open: "the longest first".
  std::string how = {};
  // Of rebalanced stages.
  std::vector<int64_t> stage_layers = {};
  std::vector<double> stage_scale = {};
};

// The step of `question`, which is `graph`, under `change`: in one way or,
// where one is to be found out, several.
//
// Errors: INVALID_ARGUMENT where the change cannot be made: names the field of
// `change`, then a colon and what is wrong; those of PoseStep.
absl::StatusOr<std::vector<ChangedGraph>> Change(
    const prism::v1::StepChange& change, const Question& question,
    const step::StepGraph& graph);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_STEP_CHANGE_H_
