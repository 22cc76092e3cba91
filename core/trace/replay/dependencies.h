// Dependencies: what the operations of a recorded step waited for.
//
// A worker runs streams: one of compute, one for each kind of point-to-point
// operation and one of its data group. Operations of a stream follow each
// other as they were recorded; across streams,
//
//   a send      follows the forward or backward whose output it sends
//   a receive   follows the one before the one whose input it receives,
//               which in turn follows the receive
//   the first backward send and receive
//               follow the last forward but one before the first backward
//   a gather    of parameters comes before the first forward of its chunk
//   a scatter   of gradients follows the last backward of its chunk where
//               gradients are reduced beside the backwards (which a separate
//               reduction at the end gives away); else all of them
//
// and when all computes are done, one after the other: garbage collection,
// layer norms' and embeddings' gradients, gradients of the data group,
// clipping, the optimizer.
//
// Members of a group begin their transfer when the last of them is there: the
// two ends of a point-to-point transfer, a stage in all replicas, the first
// and last stage for the gradients of the embedding, and all workers for the
// norm of the gradients. Source: this is the model of Lin et al.,
// "Understanding Stragglers in Large Model Training Using What-if Analysis"
// (OSDI 2025, arXiv 2505.05713), except that pairs are found by virtual stage.
#ifndef PRISM_CORE_TRACE_REPLAY_DEPENDENCIES_H_
#define PRISM_CORE_TRACE_REPLAY_DEPENDENCIES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "core/trace/trace.h"

namespace prism::trace {

inline constexpr int32_t kAlone = -1;

struct Dependencies {
  // {before, after}: indices of operations.
  std::vector<std::pair<int32_t, int32_t>> edges;
  // By operation: the group whose members wait for each other; kAlone: it
  // waits for none.
  std::vector<int32_t> group;
  // Members in ascending order.
  std::vector<std::vector<int32_t>> groups;
  // By group: whether a member was not recorded.
  std::vector<bool> incomplete;
};

// Requires: `step` is in order.
Dependencies FindDependencies(const Step& step, const Sizes& sizes);

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_REPLAY_DEPENDENCIES_H_
