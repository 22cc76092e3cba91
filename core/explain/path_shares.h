// PathShares: what critical paths spend in each source.
#ifndef PRISM_CORE_EXPLAIN_PATH_SHARES_H_
#define PRISM_CORE_EXPLAIN_PATH_SHARES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "core/base/budget.h"
#include "core/explain/critical_path.h"
#include "core/explain/source.h"
#include "core/step/compiled_graph.h"

namespace prism::explain {

struct PathShare {
  double of_mean = 0;    // seconds in the source over seconds of the steps
  double frequency = 0;  // of the paths that run through it
};

struct PathShares {
  std::vector<PathShare> of_source;
  int64_t paths = 0;
};

// Follows the critical paths of as many steps as are affordable; none where
// paths cannot be followed or the budget ends before. A step-wide or load
// factor is where what it multiplies is.
PathShares FollowSources(const step::CompiledGraph& compiled,
                         const std::vector<Source>& sources,
                         uint64_t random_key, const base::Budget& budget);

}  // namespace prism::explain

#endif  // PRISM_CORE_EXPLAIN_PATH_SHARES_H_
