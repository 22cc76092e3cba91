// Memory of a job as a message.
#ifndef PRISM_CORE_QUERY_MEMORY_MESSAGE_H_
#define PRISM_CORE_QUERY_MEMORY_MESSAGE_H_

#include "core/workload/job.h"
#include "prism/v1/prediction.pb.h"

namespace prism::query {

// Every stage of `job`, the fullest, and whether and how it fits into GPUs of
// `capacity_bytes`. Requires: the job is valid.
prism::v1::Memory MemoryMessage(const workload::Job& job,
                                double capacity_bytes);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_MEMORY_MESSAGE_H_
