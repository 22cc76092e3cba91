#include "core/step/schedules/placement.h"

#include "core/base/check.h"

namespace prism::step {

PipelineOrder LoopedPlacement(int stages, int chunks, int microbatches) {
  PRISM_CHECK(stages >= 1 && chunks >= 1 && microbatches >= 1);
  PipelineOrder order;
  order.microbatches = microbatches;
  for (int u = 0; u < stages * chunks; ++u) {
    order.stage_of.push_back(u % stages);
  }
  order.operations.resize(stages);
  return order;
}

PipelineOrder VPlacement(int stages, int microbatches) {
  PipelineOrder order = LoopedPlacement(stages, 2, microbatches);
  for (int s = 0; s < stages; ++s) order.stage_of[2 * stages - 1 - s] = s;
  return order;
}

}  // namespace prism::step
