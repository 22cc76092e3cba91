#include "core/hardware/link_speeds.h"

namespace prism::hardware {
namespace {

bool HasNvlink4(const Accelerator& accelerator) {
  return accelerator.architecture == Architecture::kHopper ||
         accelerator.architecture == Architecture::kBlackwell;
}

}  // namespace

bool SwitchesReduce(const Accelerator& accelerator) {
  return HasNvlink4(accelerator);
}

const NodeSpeeds& NodeSpeedsOf(const LinkSpeeds& speeds,
                               const Accelerator& accelerator) {
  return HasNvlink4(accelerator) ? speeds.nvlink4 : speeds.nvlink3;
}

}  // namespace prism::hardware
