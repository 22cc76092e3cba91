// Rank slowdowns: what is known of the nodes' speeds, by rank of the graph.
//
// A job's graph assumes of every GPU that it is as slow as the slowest of all
// its GPUs (SlowestFactor). Where a node was measured, its factor takes the
// place of that assumption; those that nobody measured are then as slow as the
// slowest of what is left of them. So one graph serves all placements of the
// same PlacementShape.
#ifndef PRISM_CORE_ESTIMATE_RANK_SLOWDOWN_H_
#define PRISM_CORE_ESTIMATE_RANK_SLOWDOWN_H_

#include <vector>

#include "core/estimate/rank_map.h"
#include "core/estimate/variation.h"
#include "core/hardware/cluster.h"

namespace prism::estimate {

// Of a node that nobody measured.
inline constexpr double kNotMeasured = 0;

// By node of the cluster: its factor on compute time, or kNotMeasured. That of
// a node of which only a distribution is known is its mean.
std::vector<double> MeasuredSlowdowns(const hardware::Cluster& cluster);

// StepGraph::slowdown of a job's graph: by rank of the graph, the factor over
// what the graph assumes. Empty where no node of the job was measured.
//
// Requires: `measured` has one entry for each node of the cluster.
std::vector<double> RankSlowdowns(const RankMap& ranks,
                                  const std::vector<double>& measured,
                                  const Variation& variation);

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_RANK_SLOWDOWN_H_
