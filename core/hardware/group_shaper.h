// GroupShaper: how the members of groups lie in a fabric, for many groups one
// after another.
//
// Keeps counters between calls, so that a call costs levels x members. Not
// thread-safe; make one for each thread.
#ifndef PRISM_CORE_HARDWARE_GROUP_SHAPER_H_
#define PRISM_CORE_HARDWARE_GROUP_SHAPER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/hardware/fabric.h"

namespace prism::hardware {

class GroupShaper final {
 public:
  // Requires: `fabric` outlives the shaper.
  explicit GroupShaper(const Fabric& fabric);

  // Shape of the group on these GPUs. Requires: not empty.
  GroupShape ShapeOf(std::span<const int64_t> gpus);

 private:
  int64_t FewestInAUnit(size_t level, std::span<const int64_t> gpus);

  const Fabric& fabric_;
  // By level and unit; 0 between calls.
  std::vector<std::vector<int32_t>> members_;
};

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_GROUP_SHAPER_H_
