// Canonical placements: where a job runs, in numbers that no longer depend on
// which of several interchangeable nodes were named.
#ifndef PRISM_CORE_QUERY_CANONICAL_PLACEMENT_H_
#define PRISM_CORE_QUERY_CANONICAL_PLACEMENT_H_

#include <cstdint>
#include <vector>

#include "core/hardware/cluster.h"
#include "core/query/question.h"

namespace prism::query {

// All that tells the nodes of a job apart. Two placements of one job with equal
// values have the same step graph, slowdowns included.
struct CanonicalPlacement {
  // By slot of the placement: numbers of nodes that lie in the fabric as the
  // real ones do, the smallest there are. Empty: 0, 1, 2, ...
  std::vector<int64_t> nodes;
  // Where a level of the fabric lists its units: for each level outside a node
  // but the last, by slot, the node's unit, numbered as they appear.
  std::vector<std::vector<int64_t>> units;
  // Of the job's nodes alone, by number, with those numbers.
  std::vector<hardware::NodeState> node_states;
  std::vector<hardware::PathState> path_states;
};

// Requires: the subject is valid.
CanonicalPlacement CanonicalPlacementOf(const JobSubject& subject);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_CANONICAL_PLACEMENT_H_
