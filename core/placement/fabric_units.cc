#include "core/placement/fabric_units.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/check.h"
#include "core/hardware/accelerator.h"
#include "core/hardware/fabric.h"

namespace prism::placement {
namespace {

// Unit of every node at a level, renumbered 0, 1, 2, ...
std::vector<int32_t> UnitsOf(const hardware::Fabric& fabric, size_t level,
                             int64_t nodes) {
  std::map<int64_t, int32_t> number;
  std::vector<int32_t> units;
  for (int64_t node = 0; node < nodes; ++node) {
    const int64_t unit = fabric.UnitOf(level, node * fabric.gpus_per_node());
    units.push_back(
        number.try_emplace(unit, static_cast<int32_t>(number.size()))
            .first->second);
  }
  return units;
}

}  // namespace

FabricUnits::FabricUnits(const hardware::Cluster& cluster) {
  const hardware::Accelerator* accelerator =
      hardware::FindAccelerator(cluster.accelerator);
  PRISM_CHECK(accelerator != nullptr);
  const hardware::Fabric fabric(cluster, *accelerator);
  for (size_t level = 0; level < fabric.levels().size(); ++level) {
    if (fabric.levels()[level].gpus <= cluster.gpus_per_node) continue;
    std::vector<int32_t> units = UnitsOf(fabric, level, cluster.nodes);
    const int32_t count = *std::max_element(units.begin(), units.end()) + 1;
    if (count == 1) continue;
    units_.push_back(std::move(units));
    unit_counts_.push_back(count);
    fabric_level_.push_back(static_cast<int>(level));
  }
}

int64_t FabricUnits::LargestUnit(int level) const {
  std::vector<int64_t> size(unit_counts_[level], 0);
  for (const int32_t unit : units_[level]) ++size[unit];
  return *std::max_element(size.begin(), size.end());
}

int FabricUnits::LevelOf(int fabric_level) const {
  for (int level = 0; level < levels(); ++level) {
    if (fabric_level_[level] == fabric_level) return level;
  }
  return -1;
}

}  // namespace prism::placement
