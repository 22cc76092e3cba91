// All placements of a small case.
#ifndef PRISM_CORE_PLACEMENT_EXHAUSTIVE_H_
#define PRISM_CORE_PLACEMENT_EXHAUSTIVE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/placement/job_model.h"
#include "core/placement/pool.h"

namespace prism::placement {

// Most placements that are looked at one by one.
inline constexpr int64_t kMostEnumerated = 50'000;

// Ordered choices of the job's nodes from the pool; more than kMostEnumerated
// count as one more.
int64_t PlacementCount(const JobModel& model, const Pool& pool);

// Calls `visit` for every placement from the pool that obeys `pools`, leaving
// out those that differ from another only by exchanging replicas other than
// the first, where the job cannot tell these apart. Stops when `visit` returns
// false.
void ForEachPlacement(const JobModel& model, const Pools& pools,
                      const Pool& pool,
                      const std::function<bool(const NodeList&)>& visit);

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_EXHAUSTIVE_H_
