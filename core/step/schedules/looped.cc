// Schedules whose chunks lie in a loop: virtual stage u on stage u mod p.

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "core/base/check.h"
#include "core/step/schedules/generators.h"
#include "core/step/schedules/placement.h"

namespace prism::step {
namespace {

struct Visit {
  int chunk;
  int microbatch;
};

// In which order a stage's forwards come: group by group, chunk by chunk.
std::vector<Visit> Visits(int chunks, int microbatches, int group) {
  std::vector<Visit> visits;
  for (int first = 0; first < microbatches; first += group) {
    const int end = std::min(first + group, microbatches);
    for (int chunk = 0; chunk < chunks; ++chunk) {
      for (int i = first; i < end; ++i) visits.push_back({chunk, i});
    }
  }
  return visits;
}

// `warm_up` forwards, then pairs of forward and backward, then the rest.
// Backwards visit the chunks in reverse.
void Interleave(const std::vector<Visit>& visits, int stage, int chunks,
                int warm_up, PipelineOrder& order) {
  auto& operations = order.operations[stage];
  const int stages = order.stages();
  const int count = static_cast<int>(visits.size());
  for (int k = 0; k < count + warm_up; ++k) {
    if (k < count) {
      operations.push_back({Phase::kForward, visits[k].chunk * stages + stage,
                            visits[k].microbatch});
    }
    if (k >= warm_up) {
      const Visit& visit = visits[k - warm_up];
      operations.push_back({Phase::kBackward,
                            (chunks - 1 - visit.chunk) * stages + stage,
                            visit.microbatch});
    }
  }
}

bool IsGroup(int stages, int microbatches, int group) {
  if (microbatches < stages) return group == microbatches;
  const int rest = group >= 1 ? microbatches % group : 0;
  return group >= stages && group <= microbatches &&
         (rest == 0 || rest >= stages);
}

}  // namespace

PipelineOrder GpipeOrder(int stages, int microbatches) {
  return BreadthFirstOrder(stages, 1, microbatches);
}

PipelineOrder OneForwardOneBackwardOrder(int stages, int microbatches) {
  PipelineOrder order = LoopedPlacement(stages, 1, microbatches);
  const auto visits = Visits(1, microbatches, microbatches);
  for (int stage = 0; stage < stages; ++stage) {
    Interleave(visits, stage, 1, std::min(stages - stage - 1, microbatches),
               order);
  }
  return order;
}

int SmallestGroup(int stages, int microbatches) {
  int group = std::min(stages, microbatches);
  while (!IsGroup(stages, microbatches, group)) ++group;
  return group;
}

// Narayanan et al. (arXiv 2104.04473), section 2.2, with the groups and the
// warm-up of Megatron-LM's microbatch_group_size_per_vp_stage
// (get_schedule_table and get_pp_rank_microbatches in
// megatron/core/pipeline_parallel/schedules.py at d98e8a6). That one
// micro-batch a stage is all warm-up is the rule of its earlier versions.
absl::StatusOr<PipelineOrder> InterleavedOrder(int stages, int chunks,
                                               int microbatches, int group) {
  if (!IsGroup(stages, microbatches, group)) {
    return absl::InvalidArgumentError(
        absl::StrCat("group is ", group, "; it must be at least the ", stages,
                     " stages and leave a remainder of the ", microbatches,
                     " micro-batches that is 0 or at least the stages"));
  }
  PipelineOrder order = LoopedPlacement(stages, chunks, microbatches);
  const auto visits = Visits(chunks, microbatches, group);
  for (int stage = 0; stage < stages; ++stage) {
    const int count = microbatches * chunks;
    const int warm_up = 2 * (stages - stage - 1) + (chunks - 1) * group;
    Interleave(visits, stage, chunks,
               microbatches == stages ? count : std::min(warm_up, count),
               order);
  }
  return order;
}

PipelineOrder BreadthFirstOrder(int stages, int chunks, int microbatches) {
  PipelineOrder order = LoopedPlacement(stages, chunks, microbatches);
  const auto visits = Visits(chunks, microbatches, microbatches);
  for (int stage = 0; stage < stages; ++stage) {
    Interleave(visits, stage, chunks, static_cast<int>(visits.size()), order);
  }
  return order;
}

}  // namespace prism::step
