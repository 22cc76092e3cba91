#include "core/hardware/path_factors.h"

#include <algorithm>

namespace prism::hardware {

PathFactors::PathFactors(const std::vector<PathState>& states) {
  for (const PathState& state : states) {
    if (state.slowdown == 1) continue;
    factors_[std::minmax(state.from, state.to)] = state.slowdown;
  }
}

double PathFactors::Between(int64_t a, int64_t b) const {
  const auto found = factors_.find(std::minmax(a, b));
  return found == factors_.end() ? 1 : found->second;
}

}  // namespace prism::hardware
