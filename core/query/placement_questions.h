// Where should a job run: the three questions and their answers.
//
// Messages whose cluster is there are read into questions; answers hold
// everything but the parts of the provenance that belong to whoever answers:
// prediction_id, signature, cluster_version, cache and valid_until. All
// candidates and what-ifs of a question share their draws.
#ifndef PRISM_CORE_QUERY_PLACEMENT_QUESTIONS_H_
#define PRISM_CORE_QUERY_PLACEMENT_QUESTIONS_H_

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/base/violations.h"
#include "core/placement/optimize.h"
#include "core/placement/rank_nodes.h"
#include "core/placement/score.h"
#include "prism/v1/placement_service.pb.h"

namespace prism::query {

// A request and the same under changes to its cluster.
template <typename Request>
struct PlacementQuestion {
  Request request;
  struct WhatIf {
    std::string name;
    Request request;
  };
  std::vector<WhatIf> what_ifs;
};

struct ScoreQuestion : PlacementQuestion<placement::ScoreRequest> {
  std::vector<std::string> names;  // of the candidates
};
struct OptimizeQuestion : PlacementQuestion<placement::OptimizeRequest> {};
struct RankQuestion {
  placement::RankNodesRequest request;
};

// Each checks `message` and converts it. Adds every violation to `violations`,
// with paths that begin with `path`. Returns nothing if there was any.
std::optional<ScoreQuestion> ReadScoreQuestion(
    const prism::v1::ScorePlacementsRequest& message, const std::string& path,
    base::Violations& violations);
std::optional<OptimizeQuestion> ReadOptimizeQuestion(
    const prism::v1::OptimizePlacementRequest& message, const std::string& path,
    base::Violations& violations);
std::optional<RankQuestion> ReadRankQuestion(
    const prism::v1::RankNodesRequest& message, const std::string& path,
    base::Violations& violations);

// As of a Question.
std::string CanonicalForm(const ScoreQuestion& question);
std::string CanonicalForm(const OptimizeQuestion& question);
std::string CanonicalForm(const RankQuestion& question);

// The part of that form that came from the cluster.
std::string ClusterForm(const ScoreQuestion& question);
std::string ClusterForm(const OptimizeQuestion& question);
std::string ClusterForm(const RankQuestion& question);

// Errors: those of the functions of core/placement.
absl::StatusOr<prism::v1::ScorePlacementsResponse> ScorePlacements(
    const ScoreQuestion& question, const base::Budget& budget,
    base::Executor& executor);
absl::StatusOr<prism::v1::OptimizePlacementResponse> OptimizePlacement(
    const OptimizeQuestion& question, const base::Budget& budget,
    base::Executor& executor);
absl::StatusOr<prism::v1::RankNodesResponse> RankNodes(
    const RankQuestion& question, const base::Budget& budget,
    base::Executor& executor);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_PLACEMENT_QUESTIONS_H_
