// What is typical of a trace: the durations its steps would have without
// stragglers, and those of each worker.
//
// Typical of a kind, over all workers and steps: the mean of computes, of the
// optimizer and of garbage collection, whose sum is the work to be done; the
// median of communication, which congestion makes longer but nothing makes
// shorter. Source: as dependencies.h. Not thread-safe.
#ifndef PRISM_CORE_TRACE_REPLAY_TYPICAL_H_
#define PRISM_CORE_TRACE_REPLAY_TYPICAL_H_

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/trace/replay/duration_pool.h"
#include "core/trace/replay/recorded_step.h"

namespace prism::trace {

// Whether the median is typical of it instead of the mean.
constexpr bool IsCommunication(OperationKind kind) {
  return kind != OperationKind::kForwardCompute &&
         kind != OperationKind::kBackwardCompute &&
         kind != OperationKind::kOptimizer &&
         kind != OperationKind::kGarbageCollection;
}

// Mean work of one worker's operations of a kind, seconds.
struct WorkerMean {
  double sum = 0;
  int64_t count = 0;

  double mean() const {
    return count == 0 ? 0 : sum / static_cast<double>(count);
  }
};

// A worker by replica and stage.
using WorkerKey = std::pair<int32_t, int32_t>;

struct Typical {
  KindSeconds seconds{};
  std::array<int64_t, kOperationKinds> count{};
  std::map<WorkerKey, std::array<WorkerMean, kOperationKinds>> workers;
  // First rank of each worker; kNone where it was never recorded.
  std::map<WorkerKey, int32_t> ranks;
};

class TypicalGatherer {
 public:
  void Add(const RecordedStep& step);
  Typical Finish() const;

 private:
  std::array<DurationPool, kOperationKinds> pools_;
  Typical typical_;
};

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_REPLAY_TYPICAL_H_
