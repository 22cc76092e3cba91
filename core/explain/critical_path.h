// The critical path of simulated steps: the chain of draws that the end of a
// step waited for, from its beginning to its end without a gap.
//
// A step's end is a maximum of sums. Going back from the rank that ends last,
// whatever began later than its rank was free began when something else ended:
// a message arrived, or the last member of a group was there. So much shorter
// as the pieces on the path become, all together, is the step, as long as they
// stay on the path; hence of the mean step, the mean of what the path spends in
// a source is the derivative of the one by the logarithm of the other.
//
// The steps are those of step::SampleWorker, simulated again and watched. Where
// replicas do not wait for each other before the closing, only the one that the
// path runs through is.
#ifndef PRISM_CORE_EXPLAIN_CRITICAL_PATH_H_
#define PRISM_CORE_EXPLAIN_CRITICAL_PATH_H_

#include <cstdint>
#include <functional>

#include "core/base/budget.h"
#include "core/step/compiled_graph.h"
#include "core/step/step_graph.h"

namespace prism::explain {

struct PathPiece {
  const step::Task* task = nullptr;  // of the graph; null: a hop
  int stage = 0;                     // of a hop, the one that sent
  int replica = 0;
  int lane = 0;
  double seconds = 0;
};

// Whether the paths of a graph can be followed: each program is a chain of
// tasks, and what has to be kept of one step does not fill the memory.
bool HasCriticalPaths(const step::CompiledGraph& compiled);

// Called with the pieces of a step's path, the last one first.
using TakePiece = std::function<void(const PathPiece&)>;

// Follows the critical paths of samples [first, first + count), which end with
// `sample_ends`, called with the sample's number and its seconds. False where
// the budget was cancelled or ran out.
//
// Requires: HasCriticalPaths(compiled).
bool FollowCriticalPaths(
    const step::CompiledGraph& compiled, uint64_t random_key, int64_t first,
    int64_t count, const base::Budget& budget, const TakePiece& take,
    const std::function<void(int64_t sample, double seconds)>& sample_ends);

}  // namespace prism::explain

#endif  // PRISM_CORE_EXPLAIN_CRITICAL_PATH_H_
