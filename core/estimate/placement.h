// Placement: where the ranks of a job run. A plain value; query checks it.
#ifndef PRISM_CORE_ESTIMATE_PLACEMENT_H_
#define PRISM_CORE_ESTIMATE_PLACEMENT_H_

#include <cstdint>
#include <vector>

namespace prism::estimate {

struct Placement {
  // Rank r runs on GPU r mod gpus_per_node of nodes[r / gpus_per_node]. Each
  // node once. Empty: nodes 0, 1, 2, ...
  std::vector<int64_t> nodes;
};

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_PLACEMENT_H_
