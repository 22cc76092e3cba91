// ComputeTable: the computes of observed steps by what may set them apart.
//
// A component is what a micro-batch runs on one chunk of one stage, forward or
// backward; each replica runs every component once for every micro-batch of
// every step. Values are logarithms of seconds.
#ifndef PRISM_CORE_TRACE_LEARN_COMPUTE_TABLE_H_
#define PRISM_CORE_TRACE_LEARN_COMPUTE_TABLE_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/trace/learn/observations.h"

namespace prism::trace {

struct Component {
  OperationKind kind = OperationKind::kForwardCompute;
  int32_t stage = 0;
  int32_t chunk = 0;
};

struct TableShape {
  size_t steps = 0;
  size_t replicas = 0;
  size_t components = 0;
  size_t microbatches = 0;

  size_t values() const { return steps * replicas * components * microbatches; }
  // Rows of micro-batches: [Row(), Row() + microbatches).
  size_t Row(size_t step, size_t replica, size_t component) const {
    return ((step * replicas + replica) * components + component) *
           microbatches;
  }
};

struct ComputeTable {
  TableShape shape;
  // Forwards first, then backwards, each by stage and chunk: the component
  // `components / 2` after a forward is its backward.
  std::vector<Component> components;
  std::vector<double> logs;         // by Row() and micro-batch
  std::vector<int32_t> operations;  // the same for step 0

  size_t half() const { return shape.components / 2; }
};

// Errors: FAILED_PRECONDITION where a worker lacks the forward or backward of
// a micro-batch or has it twice.
absl::StatusOr<ComputeTable> TabulateComputes(const Observations& observed);

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_LEARN_COMPUTE_TABLE_H_
