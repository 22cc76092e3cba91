// The automatic zero-bubble scheduler: the shortest order it finds that keeps
// within a memory limit, for given operation times.
//
// It compares the schedules by name that fit the shape, each with its weight
// parts moved to where stages wait, with orders made by list scheduling under
// several policies, and improves the best by random exchanges. Deterministic.
// In the spirit of arXiv 2401.10241, section 3.
#ifndef PRISM_CORE_STEP_SCHEDULES_AUTOMATIC_H_
#define PRISM_CORE_STEP_SCHEDULES_AUTOMATIC_H_

#include <absl/status/statusor.h>

#include <limits>
#include <string>
#include <vector>

#include "core/step/schedules/activation_memory.h"
#include "core/step/schedules/nominal_run.h"
#include "core/step/schedules/pipeline_order.h"

namespace prism::step {

// A model cut in stages * chunks consecutive pieces. Schedules of fewer chunks
// take neighbouring pieces as one.
struct PipelinePieces {
  int stages = 1;
  int chunks = 1;
  int microbatches = 1;
  // By piece; hops as if neighbouring pieces lay on different stages.
  OperationTimes times;
  std::vector<ActivationSize> sizes;
};

enum class Placements {
  kAny,     // whatever the order takes
  kFolded,  // pieces u and 2 * stages - 1 - u on one stage, of two chunks
};

struct SearchLimits {
  // Most activations a stage may keep, in the unit of the sizes.
  double memory = std::numeric_limits<double>::infinity();
  // How many exchanges are tried; each costs a nominal run.
  int exchanges = 200;
  Placements placements = Placements::kAny;
};

struct FoundOrder {
  std::string name;  // of the schedule it is, or comes from
  PipelineOrder order;
  // Of the order's virtual stages.
  OperationTimes times;
  std::vector<ActivationSize> sizes;
  NominalRun run;
};

// Never slower, from a common start, than 1f1b, zero-bubble H1 and H2,
// interleaved and breadth-first (of all chunks) and, with an even number of
// chunks, the V-shaped schedules, as far as they keep within the memory; with
// Placements::kFolded, than those V-shaped ones.
//
// Requires: sizes at least 1; times and sizes of stages * chunks pieces; two
// chunks where placements are folded.
// Errors: RESOURCE_EXHAUSTED if no order was found that fits the memory.
absl::StatusOr<FoundOrder> SearchOrder(const PipelinePieces& pieces,
                                       const SearchLimits& limits);

// `order` with every operation as one for each piece of its virtual stage, one
// after the other: it takes as long, and needs no more memory.
//
// Requires: the virtual stages divide the pieces.
PipelineOrder InPieces(const PipelinePieces& pieces,
                       const PipelineOrder& order);

// Times and sizes of the virtual stages of `order`: neighbouring pieces as one,
// as many as it takes. Requires: the virtual stages divide the pieces.
// Hops within a stage take no time.
OperationTimes MergedTimes(const PipelinePieces& pieces,
                           const PipelineOrder& order);
std::vector<ActivationSize> MergedSizes(const PipelinePieces& pieces,
                                        const PipelineOrder& order);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_SCHEDULES_AUTOMATIC_H_
