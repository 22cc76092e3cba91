#include "core/hardware/group_shaper.h"

#include <algorithm>

namespace prism::hardware {

GroupShaper::GroupShaper(const Fabric& fabric) : fabric_(fabric) {
  for (size_t level = 0; level < fabric.levels().size(); ++level) {
    members_.emplace_back(static_cast<size_t>(fabric.Units(level)), 0);
  }
}

int64_t GroupShaper::FewestInAUnit(size_t level,
                                   std::span<const int64_t> gpus) {
  std::vector<int32_t>& members = members_[level];
  for (const int64_t gpu : gpus) {
    ++members[static_cast<size_t>(fabric_.UnitOf(level, gpu))];
  }
  auto fewest = static_cast<int64_t>(gpus.size());
  for (const int64_t gpu : gpus) {
    int32_t& count = members[static_cast<size_t>(fabric_.UnitOf(level, gpu))];
    if (count > 0) fewest = std::min<int64_t>(fewest, count);
    count = 0;
  }
  return fewest;
}

GroupShape GroupShaper::ShapeOf(std::span<const int64_t> gpus) {
  GroupShape shape;
  shape.members = static_cast<int64_t>(gpus.size());
  for (size_t level = 0; level < members_.size(); ++level) {
    const bool spans_cluster = level + 1 == members_.size();
    shape.in_unit.push_back(spans_cluster ? shape.members
                                          : FewestInAUnit(level, gpus));
  }
  return shape;
}

}  // namespace prism::hardware
