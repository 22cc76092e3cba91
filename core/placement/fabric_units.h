// FabricUnits: which nodes lie together, level by level.
//
// Immutable; safe to share between threads.
#ifndef PRISM_CORE_PLACEMENT_FABRIC_UNITS_H_
#define PRISM_CORE_PLACEMENT_FABRIC_UNITS_H_

#include <cstdint>
#include <vector>

#include "core/hardware/cluster.h"

namespace prism::placement {

class FabricUnits final {
 public:
  // Requires: `cluster` is valid.
  explicit FabricUnits(const hardware::Cluster& cluster);

  // Levels that hold more than a node and less than the cluster, innermost
  // first.
  int levels() const { return static_cast<int>(units_.size()); }
  // Units of a level, numbered from 0, and that of a node.
  int32_t UnitCount(int level) const { return unit_counts_[level]; }
  int32_t Unit(int level, int64_t node) const { return units_[level][node]; }
  // Nodes in the fullest unit.
  int64_t LargestUnit(int level) const;

  // Index of the level in the cluster's fabric, and back; -1 for a level of the
  // fabric that is not among these.
  int FabricLevel(int level) const { return fabric_level_[level]; }
  int LevelOf(int fabric_level) const;

  // True where the fabric cannot tell two nodes apart.
  bool LieTogether(int64_t a, int64_t b) const {
    return units_.empty() || units_.front()[a] == units_.front()[b];
  }

 private:
  std::vector<std::vector<int32_t>> units_;
  std::vector<int32_t> unit_counts_;
  std::vector<int> fabric_level_;
};

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_FABRIC_UNITS_H_
