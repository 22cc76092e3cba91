// PipelineOrder: which stage runs which operations, in which order.
//
// More general than StageOrders(): virtual stages may lie on any stage (a
// V-shaped placement puts u and 2p - 1 - u on one), the backward may be split
// in an input and a weight part, and micro-batches may enter from several
// ends. Generators are in generators.h; an order of one's own is data, to be
// checked with Validate(). Plain data: share it freely between threads.
#ifndef PRISM_CORE_STEP_SCHEDULES_PIPELINE_ORDER_H_
#define PRISM_CORE_STEP_SCHEDULES_PIPELINE_ORDER_H_

#include <absl/status/status.h>

#include <cstddef>
#include <string>
#include <vector>

#include "core/step/step_graph.h"

namespace prism::step {

struct PipelineOrder {
  int microbatches = 1;
  // Virtual stage -> stage that runs it.
  std::vector<int> stage_of;
  // The virtual stages are this many chains of equal length, one after the
  // other, each a whole model. Micro-batches are dealt to them in equal runs:
  // the first microbatches / chains to the first chain, and so on. A
  // micro-batch runs on the virtual stages of its chain alone.
  int chains = 1;
  // Backwards are kBackward, for inputs, and kBackwardWeight; else kBackward
  // is the whole of it.
  bool splits_backward = false;
  // By index(): backwards whose weight part follows at once and is run as one
  // with them, so that the gradient leaves when both are done. Else it leaves
  // after the input part. Empty: none.
  std::vector<bool> joined;
  // Stage -> its operations.
  std::vector<std::vector<Operation>> operations;

  int stages() const { return static_cast<int>(operations.size()); }
  int virtual_stages() const { return static_cast<int>(stage_of.size()); }
  int chain_length() const { return virtual_stages() / chains; }
  int chain_of(int microbatch) const {
    return microbatch / (microbatches / chains);
  }
  bool is_first(int virtual_stage) const {
    return virtual_stage % chain_length() == 0;
  }
  bool is_last(int virtual_stage) const {
    return (virtual_stage + 1) % chain_length() == 0;
  }
  // Among all operations of a phase.
  size_t index(const Operation& op) const {
    return static_cast<size_t>(op.virtual_stage) * microbatches + op.microbatch;
  }
  // How many indices there are.
  size_t passes() const {
    return static_cast<size_t>(virtual_stages()) * microbatches;
  }
  bool is_joined(const Operation& op) const {
    return op.phase == Phase::kBackward && !joined.empty() && joined[index(op)];
  }
};

// OK if the order is complete (each operation exactly once, on its stage, a
// backward after its forward, a weight part after its backward and right after
// one that it is joined to) and free of deadlock: the stages' orders do not
// wait for each other in a circle.
//
// Errors: INVALID_ARGUMENT, naming the stage and the operation.
absl::Status Validate(const PipelineOrder& order);

// "forward of micro-batch 3 on virtual stage 1".
std::string Describe(const Operation& operation);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_SCHEDULES_PIPELINE_ORDER_H_
