// Which compute each point-to-point operation serves.
//
// Traces hold sends and receives that never happened: at the ends of a step,
// and at the first and last virtual stage of interleaved schedules. The n-th
// real one of a kind serves the n-th compute of its direction.
#ifndef PRISM_CORE_TRACE_REPLAY_POINT_TO_POINT_H_
#define PRISM_CORE_TRACE_REPLAY_POINT_TO_POINT_H_

#include <cstdint>
#include <vector>

#include "core/trace/replay/worker_operations.h"
#include "core/trace/trace.h"

namespace prism::trace {

struct Served {
  int32_t operation = 0;  // the send or receive
  // The compute, and its number among those of its direction. kNone: the
  // operation serves none.
  int32_t compute = kNone;
  int32_t number = kNone;
  // The virtual stage before the boundary that is crossed; kNone: there is
  // none, nothing is sent.
  int32_t boundary = kNone;
  // How many of its kind crossed that boundary before.
  int32_t occurrence = 0;
};

// For each operation of `kind`, which is point-to-point, by sequence.
std::vector<Served> ServedBy(const Step& step, const Sizes& sizes,
                             const WorkerOperations& worker,
                             OperationKind kind);

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_REPLAY_POINT_TO_POINT_H_
