// Memory of one GPU of a job, by part.
#ifndef PRISM_CORE_WORKLOAD_MEMORY_H_
#define PRISM_CORE_WORKLOAD_MEMORY_H_

#include <cstdint>

#include "core/workload/job.h"

namespace prism::workload {

// Bytes on one GPU of `stage`.
struct MemoryUse {
  int64_t stage = 0;
  double parameters = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;
  double logits = 0;
  double reserve = 0;  // framework, communication buffers, fragmentation

  double total() const {
    return parameters + gradients + optimizer + activations + logits + reserve;
  }
};

// Memory on the GPUs of pipeline stage `stage`, from 0.
MemoryUse StageMemory(const Job& job, int64_t stage);

// Memory of the fullest GPU of the job.
MemoryUse PeakMemory(const Job& job);

}  // namespace prism::workload

#endif  // PRISM_CORE_WORKLOAD_MEMORY_H_
