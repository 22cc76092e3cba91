// Answers about placements as text that a person reads.
#ifndef PRISM_CLIENT_RENDER_PLACEMENT_TEXT_H_
#define PRISM_CLIENT_RENDER_PLACEMENT_TEXT_H_

#include <string>

#include "client/render/terminal.h"
#include "prism/v1/cluster.pb.h"
#include "prism/v1/placement_service.pb.h"

namespace prism::render {

// The candidates, the best first, those of one group together.
std::string ScoresText(const prism::v1::ScorePlacementsResponse& response,
                       const Terminal& terminal);

// The nodes by their names in `cluster` where it has them, the step on them
// and on other placements. Requires: response.feasible().
std::string OptimumText(const prism::v1::OptimizePlacementResponse& response,
                        const prism::v1::Cluster& cluster,
                        const Terminal& terminal);

// Nodes by class.
std::string RanksText(const prism::v1::RankNodesResponse& response,
                      const Terminal& terminal);

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_PLACEMENT_TEXT_H_
