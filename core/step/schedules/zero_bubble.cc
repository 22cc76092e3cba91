// Zero-bubble schedules of one chunk a stage: 1f1b with later weight parts.

#include <algorithm>

#include "core/step/schedules/generators.h"
#include "core/step/schedules/placement.h"

namespace prism::step {
namespace {

// `warm_up` forwards; then backwards, each followed by the weight part of the
// micro-batch `delay` before and, while there are any, by the next forward;
// then the weight parts that are left.
std::vector<Operation> DelayedWeights(int stage, int microbatches, int warm_up,
                                      int delay) {
  std::vector<Operation> operations;
  int forward = 0;
  auto run_forward = [&] {
    operations.push_back({Phase::kForward, stage, forward++});
  };
  while (forward < std::min(warm_up, microbatches)) run_forward();
  for (int i = 0; i < microbatches; ++i) {
    operations.push_back({Phase::kBackwardInput, stage, i});
    if (i >= delay) {
      operations.push_back({Phase::kBackwardWeight, stage, i - delay});
    }
    if (forward < microbatches) run_forward();
  }
  for (int i = std::max(microbatches - delay, 0); i < microbatches; ++i) {
    operations.push_back({Phase::kBackwardWeight, stage, i});
  }
  return operations;
}

}  // namespace

PipelineOrder ZeroBubbleH1Order(int stages, int microbatches) {
  PipelineOrder order = LoopedPlacement(stages, 1, microbatches);
  for (int s = 0; s < stages; ++s) {
    order.operations[s] = DelayedWeights(s, microbatches, stages - s, s);
  }
  return order;
}

PipelineOrder ZeroBubbleH2Order(int stages, int microbatches) {
  PipelineOrder order = LoopedPlacement(stages, 1, microbatches);
  for (int s = 0; s < stages; ++s) {
    order.operations[s] =
        DelayedWeights(s, microbatches, 2 * (stages - s) - 1, 2 * s);
  }
  return order;
}

}  // namespace prism::step
