// Pipeline schedules by name.
//
// What each is, its memory and its bubble, is in schedules/generators.h; the
// rules of their orders in docs/step-profile.md.
#ifndef PRISM_CORE_STEP_SCHEDULE_H_
#define PRISM_CORE_STEP_SCHEDULE_H_

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/step/schedules/asynchronous.h"
#include "core/step/schedules/pipeline_order.h"

namespace prism::step {

enum class ScheduleKind {
  kGpipe,
  kOneForwardOneBackward,
  kInterleaved,
  kBreadthFirst,
  kZeroBubbleH1,
  kZeroBubbleH2,
  kZeroBubbleV,
  kHalfMemoryV,
  kThirdMemoryV,
  kDualPipe,
  kDualPipeV,
  kAutomatic,  // searched for, under a memory limit: schedules/automatic.h
  kCustom,     // given as data
  // Continuous: the steps follow each other without a flush.
  kTwoBufferedWeights,
  kBubbleFree,
  kRoundRobin,
};

// As documents write it: "1f1b".
std::string_view NameOf(ScheduleKind kind);

// Whether it runs backwards as their two parts, some at least, so that their
// times must be known apart. Of kCustom the order itself tells; false here.
bool NeedsParts(ScheduleKind kind);

// Whether steps follow each other without a flush, so that what the schedule
// makes is a ContinuousRun.
bool IsContinuous(ScheduleKind kind);

// How many versions of its parameters a stage keeps: 2 of kTwoBufferedWeights.
int WeightVersions(ScheduleKind kind);

// Chunks a stage has where nothing is said: 2 of V-shaped schedules and of
// DualPipe, which know no other number, 1 of all others.
int DefaultChunks(ScheduleKind kind);

struct PipelineShape {
  int stages = 1;
  int chunks = 1;  // a stage
  int microbatches = 1;
};

// A size that a schedule does not take.
struct ShapeProblem {
  enum class Size { kStages, kChunks, kMicrobatches };

  Size size = Size::kStages;
  std::string what;  // "is 1; must be above 1 for the interleaved schedule"
};

// As a profile's layout writes it: "pipeline".
std::string_view NameOf(ShapeProblem::Size size);

// Nothing where the schedule takes the shape. Requires: sizes at least 1.
std::vector<ShapeProblem> CheckShape(ScheduleKind kind,
                                     const PipelineShape& shape);

// The operations of every stage, in order; valid.
//
// Requires: sizes at least 1; a schedule whose shape alone tells its order,
// neither kAutomatic nor kCustom, and not continuous.
// Errors: INVALID_ARGUMENT, with the problems of CheckShape().
absl::StatusOr<PipelineOrder> MakeOrder(ScheduleKind kind,
                                        const PipelineShape& shape);

// WarmUpSteps() steps and the one that is measured.
//
// Requires: sizes at least 1; a continuous schedule.
// Errors: INVALID_ARGUMENT, with the problems of CheckShape().
absl::StatusOr<ContinuousRun> MakeRun(ScheduleKind kind,
                                      const PipelineShape& shape);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_SCHEDULE_H_
