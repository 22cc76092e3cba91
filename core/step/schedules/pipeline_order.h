// PipelineOrder: which stage runs which operations, in which order.
//
// Virtual stages may lie on any stage (a V-shaped placement puts u and
// 2p - 1 - u on one), a backward may be one operation or two, and micro-batches
// may enter from several ends. Generators are in generators.h; an order of
// one's own is data, to be checked with Validate(). Plain data: share it freely
// between threads.
#ifndef PRISM_CORE_STEP_SCHEDULES_PIPELINE_ORDER_H_
#define PRISM_CORE_STEP_SCHEDULES_PIPELINE_ORDER_H_

#include <absl/status/status.h>

#include <array>
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
};

// Phase -> virtual stage -> whether it runs for any micro-batch.
std::array<std::vector<bool>, kPhases> PhasesOf(const PipelineOrder& order);

// Whether any backward is run as its two parts.
bool SplitsBackward(const PipelineOrder& order);

// OK if the order is complete (each micro-batch's forward and backward, or the
// backward's parts, exactly once on each virtual stage of its chain, in this
// order) and free of deadlock: the stages' orders do not wait for each other in
// a circle.
//
// Errors: INVALID_ARGUMENT, naming the stage and the operation.
absl::Status Validate(const PipelineOrder& order);

// "forward of micro-batch 3 on virtual stage 1".
std::string Describe(const Operation& operation);

// Gives `graph` the order's micro-batches, virtual stages and operations. The
// rest of the graph is left as it is.
void PutOrder(PipelineOrder order, StepGraph& graph);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_SCHEDULES_PIPELINE_ORDER_H_
