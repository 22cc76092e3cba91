#include "core/hardware/link_speeds.h"

namespace prism::hardware {
namespace {

// NVLink 4 of H100, in bytes per second; links of the generation before are
// slower.
constexpr double kNvlink4Rate = 450e9;

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

}  // namespace

bool SwitchesReduce(const Accelerator& accelerator) {
  for (const std::string_view family :
       {"h100-", "h200-", "b200-", "b300-", "gb200-", "gb300-"}) {
    if (StartsWith(accelerator.name, family)) {
      return accelerator.node_link_bytes_per_second >= kNvlink4Rate;
    }
  }
  return false;
}

const NodeSpeeds& NodeSpeedsOf(const LinkSpeeds& speeds,
                               const Accelerator& accelerator) {
  return accelerator.node_link_bytes_per_second >= kNvlink4Rate
             ? speeds.nvlink4
             : speeds.nvlink3;
}

}  // namespace prism::hardware
