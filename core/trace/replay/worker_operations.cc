#include "core/trace/replay/worker_operations.h"

#include <algorithm>
#include <tuple>

namespace prism::trace {

std::vector<WorkerOperations> SplitWorkers(const Step& step) {
  std::vector<WorkerOperations> workers;
  for (size_t i = 0; i < step.operations.size(); ++i) {
    const Operation& operation = step.operations[i];
    if (workers.empty() || workers.back().replica != operation.replica ||
        workers.back().stage != operation.stage) {
      workers.emplace_back();
      workers.back().replica = operation.replica;
      workers.back().stage = operation.stage;
    }
    WorkerOperations& worker = workers.back();
    const auto index = static_cast<int32_t>(i);
    worker.of_kind[static_cast<size_t>(operation.kind)].push_back(index);
    if (IsCompute(operation.kind)) worker.computes.push_back(index);
  }
  const auto key = [&](int32_t i) {
    const Operation& o = step.operations[static_cast<size_t>(i)];
    return std::tuple(o.start_seconds, o.sequence, o.kind);
  };
  for (WorkerOperations& worker : workers) {
    std::sort(worker.computes.begin(), worker.computes.end(),
              [&](int32_t a, int32_t b) { return key(a) < key(b); });
  }
  return workers;
}

int32_t VirtualStage(const Operation& compute, const Sizes& sizes) {
  if (compute.virtual_stage != kNone) return compute.virtual_stage;
  return std::max<int32_t>(compute.chunk, 0) * sizes.pipeline + compute.stage;
}

}  // namespace prism::trace
