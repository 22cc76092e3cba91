// LocalSearch: improves a placement move by move.
//
// A move exchanges the nodes of two positions, or one for a free node. The
// step is that of its latest replicas, so moves are looked for that make the
// latest replica earlier and nobody as late; when there is none, for the next
// latest. Replicas are compared by their ends without chance, which differ
// from the means by nearly the same for all.
#ifndef PRISM_CORE_PLACEMENT_LOCAL_SEARCH_H_
#define PRISM_CORE_PLACEMENT_LOCAL_SEARCH_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/budget.h"
#include "core/placement/job_model.h"
#include "core/placement/pool.h"

namespace prism::placement {

struct SearchOptions {
  uint64_t seed = 0;
  // Operations times columns that the search may cost.
  double work = 0;
  // Replicas this far behind the latest, as a share of its end, are let be.
  double window = 0;
};

struct SearchResult {
  NodeList nodes;
  int64_t evaluated = 0;  // moves looked at
  bool complete = true;   // no move improves it
};

// Requires: `start` is a placement from `pool` that obeys `pools`.
//
// Errors: CANCELLED, those of JobModel. A deadline ends the search with what
// it has.
absl::StatusOr<SearchResult> Improve(JobModel& model, const Pools& pools,
                                     const Pool& pool, const NodeList& start,
                                     const SearchOptions& options,
                                     const base::Budget& budget);

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_LOCAL_SEARCH_H_
