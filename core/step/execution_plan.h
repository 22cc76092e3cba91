// ExecutionPlan: the operations of one replica in an order that a single loop
// can simulate.
//
// All replicas share it. What an operation sends to a virtual stage on another
// stage waits in a numbered slot until its receiver runs; slots are reused, so
// there are about as many as micro-batches in flight. Within a stage nothing is
// sent: the receiver comes later in the stage's own order.
#ifndef PRISM_CORE_STEP_EXECUTION_PLAN_H_
#define PRISM_CORE_STEP_EXECUTION_PLAN_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <vector>

#include "core/step/step_graph.h"

namespace prism::step {

inline constexpr int kAbsent = -1;

struct PlannedOperation {
  // What runs: an operation or, of StepGraph's updates and fetches, one of
  // which stage, program and id alone are of account.
  enum class Role { kOperation, kUpdate, kFetch };

  Role role = Role::kOperation;
  // Of an update: the step that it closes.
  int step = 0;
  Operation operation = {};
  int stage = 0;
  int program = 0;
  // Unique within the graph; names the operation's random streams.
  uint32_t id = 0;
  // Slot whose arrival it waits for, or kAbsent.
  int receives = kAbsent;
  // Slot it sends to, the hop's distribution and the boundary crossed, or
  // kAbsent.
  int sends = kAbsent;
  int hop = kAbsent;
  int boundary = kAbsent;
};

struct ExecutionPlan {
  std::vector<PlannedOperation> operations;
  int slots = 0;
  // Above the id of every operation; closings are numbered from here.
  uint32_t ids = 0;
};

// Requires: graph.Validate() is OK.
//
// Errors: INVALID_ARGUMENT where the stages' orders wait for each other in a
// circle; the message names an operation of each stuck stage.
absl::StatusOr<ExecutionPlan> PlanExecution(const StepGraph& graph);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_EXECUTION_PLAN_H_
