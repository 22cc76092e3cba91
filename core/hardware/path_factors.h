// PathFactors: how much slower than the fabric says single paths are.
//
// Immutable after construction; safe to share between threads.
#ifndef PRISM_CORE_HARDWARE_PATH_FACTORS_H_
#define PRISM_CORE_HARDWARE_PATH_FACTORS_H_

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "core/hardware/cluster.h"

namespace prism::hardware {

class PathFactors final {
 public:
  PathFactors() = default;
  // Requires: each pair at most once.
  explicit PathFactors(const std::vector<PathState>& states);

  // All paths are as the fabric says.
  bool empty() const { return factors_.empty(); }

  // Factor on the time of transfers between two nodes, in either order. 1
  // where they are one node.
  double Between(int64_t a, int64_t b) const;

 private:
  // By pair, the smaller index first.
  absl::flat_hash_map<std::pair<int64_t, int64_t>, double> factors_;
};

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_PATH_FACTORS_H_
