// Placements to start a search from: sets of nodes that follow speed or the
// fabric, each in the orders that tend to be good.
#ifndef PRISM_CORE_PLACEMENT_STARTS_H_
#define PRISM_CORE_PLACEMENT_STARTS_H_

#include <cstdint>
#include <vector>

#include "core/placement/job_model.h"
#include "core/placement/pool.h"

namespace prism::placement {

// Distinct placements from one pool, at most some hundreds:
//   - of the fastest nodes; of as few units of each level as hold the job; of
//     units that give equally many; each also of faster nodes alone;
//   - ordered along the fabric, by data group and by replica, and with the
//     slowest nodes together in one replica or on the earliest stages.
// All obey `pools`.
std::vector<NodeList> StartPlacements(JobModel& model, const Pools& pools,
                                      const Pool& pool);

// A random placement that obeys `pools`, by draw number `number` of `seed`.
NodeList RandomPlacement(JobModel& model, const Pools& pools, const Pool& pool,
                         uint64_t seed, uint32_t number);

// What a careless order makes of the slowest nodes: one in each replica, at
// the latest stage.
NodeList PoorPlacement(JobModel& model, const Pools& pools, const Pool& pool);

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_STARTS_H_
