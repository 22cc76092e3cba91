// What data groups exchange: gradients, and weights that are sharded.
//
// Volumes against plain data parallelism, with 16-bit gradients and one
// micro-batch: 1 with ZeRO-1 and ZeRO-2, 1.5 with ZeRO-3 (arXiv 1910.02054,
// section 7). Copies of one shard, where sharding is hybrid, reduce it between
// them.
//
// Requires of every function: the job is valid. Collectives of groups of one
// rank are left out. `parameters` are those of one GPU's share of the tensor
// group, before sharding.
#ifndef PRISM_CORE_WORKLOAD_DATA_TRAFFIC_H_
#define PRISM_CORE_WORKLOAD_DATA_TRAFFIC_H_

#include <vector>

#include "core/workload/job.h"
#include "core/workload/operators.h"

namespace prism::workload {

// Whether fully sharded weights are gathered once a step and kept, with their
// gradients, to its end: where a pipeline runs through them many times
// (torchtitan).
bool StaysGathered(const Job& job);

struct TrafficAround {
  std::vector<Collective> before = {};  // what it waits for
  std::vector<Collective> after = {};   // what becomes of its results
};

// Before every forward of a part of the model, and around every backward.
std::vector<Collective> ForwardTraffic(const Job& job, double parameters);
TrafficAround BackwardTraffic(const Job& job, double parameters);

// Once a step, around the optimizer's update.
TrafficAround ClosingTraffic(const Job& job, double parameters);

// Parameters of which one GPU keeps the optimizer's states.
double OwnedParameters(const Job& job, double parameters);

}  // namespace prism::workload

#endif  // PRISM_CORE_WORKLOAD_DATA_TRAFFIC_H_
