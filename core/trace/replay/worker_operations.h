// WorkerOperations: the operations of one worker in one step, by kind.
#ifndef PRISM_CORE_TRACE_REPLAY_WORKER_OPERATIONS_H_
#define PRISM_CORE_TRACE_REPLAY_WORKER_OPERATIONS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "core/trace/trace.h"

namespace prism::trace {

// Indices into Step::operations.
struct WorkerOperations {
  int32_t replica = 0;
  int32_t stage = 0;
  // By kind, by sequence.
  std::array<std::vector<int32_t>, kOperationKinds> of_kind;
  // Forwards and backwards in the order they ran in.
  std::vector<int32_t> computes;

  const std::vector<int32_t>& Of(OperationKind kind) const {
    return of_kind[static_cast<size_t>(kind)];
  }
};

// The workers of `step`, by replica and stage. Requires: it is in order.
std::vector<WorkerOperations> SplitWorkers(const Step& step);

// The virtual stage of a compute: as recorded, else by its chunk.
int32_t VirtualStage(const Operation& compute, const Sizes& sizes);

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_REPLAY_WORKER_OPERATIONS_H_
