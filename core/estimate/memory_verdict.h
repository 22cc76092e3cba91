// Whether a job fits into the memory of its GPUs, and what to change if not.
//
// Requires of every function: the job is valid.
#ifndef PRISM_CORE_ESTIMATE_MEMORY_VERDICT_H_
#define PRISM_CORE_ESTIMATE_MEMORY_VERDICT_H_

#include <string>

#include "core/estimate/memory.h"
#include "core/workload/job.h"

namespace prism::estimate {

enum class MemoryFit {
  kFits,
  kTight,  // an error as large as the model's own would change the answer
  kDoesNotFit,
};

// Share of the need that a prediction may be wrong by: the model's mean error
// on measured peaks is below it (docs/model/workload.md).
inline constexpr double kMemoryError = 0.05;

// Of a need of `total_bytes` on a device of `capacity_bytes`.
MemoryFit FitOf(double total_bytes, double capacity_bytes);

// What to change for less memory on as many GPUs, in the words of a job's
// fields: the mildest change after which the job fits, alone or on top of what
// costs no time, found by trying; or else all that helps. Not empty.
std::string MemoryAdvice(const workload::Job& job, double capacity_bytes);

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_MEMORY_VERDICT_H_
