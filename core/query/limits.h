// The largest questions that are answered. Beyond them a question is refused
// before any work is done, because one step would take too long or not fit
// into memory.
#ifndef PRISM_CORE_QUERY_LIMITS_H_
#define PRISM_CORE_QUERY_LIMITS_H_

#include <cstdint>

#include "core/query/checker.h"
#include "core/query/field_path.h"

namespace prism::query {

inline constexpr int64_t kMostRanks = 1 << 20;
// Operations of one direction on one stage: micro-batches times chunks.
inline constexpr int64_t kMostOperationsPerStage = 1 << 16;
// The same over all stages of a replica.
inline constexpr int64_t kMostOperations = 1 << 22;
// The same where an order is searched for, which looks at each a hundred times.
inline constexpr int64_t kMostSearchedOperations = 1 << 16;
// Runs of segments in one operation.
inline constexpr int64_t kMostRunsPerOperation = 100'000;
// Compute draws of one step over all ranks.
inline constexpr int64_t kMostDraws = 10'000'000'000;

struct PipelineSize {
  int64_t stages = 1;
  int64_t chunks = 1;
  int64_t microbatches = 1;
};

// Fails at `path` where the pipeline has more operations than are simulated.
void CheckPipelineSize(const PipelineSize& size, const FieldPath& path,
                       Checker& checker);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_LIMITS_H_
