// NominalRun: when a pipeline order does what, for constant times.
//
// The max-plus evaluation of one replica: an operation starts when its stage
// is free and what it needs has arrived. Distributions are left to the
// engines; this is for choosing and comparing orders.
#ifndef PRISM_CORE_STEP_SCHEDULES_NOMINAL_RUN_H_
#define PRISM_CORE_STEP_SCHEDULES_NOMINAL_RUN_H_

#include <absl/status/statusor.h>

#include <vector>

#include "core/step/schedules/pipeline_order.h"

namespace prism::step {

// Seconds, at least 0, by virtual stage. A backward that is one operation takes
// `backward` and `weight`.
struct OperationTimes {
  std::vector<double> forward;
  std::vector<double> backward;  // the input part
  std::vector<double> weight;
  // From virtual stage u to u + 1 and back; one less than virtual stages.
  // Sending does not hold the sender up.
  std::vector<double> hop;
};

// One time for each virtual stage; hops take `hop` between stages and nothing
// within one.
struct UniformTime {
  double forward = 1;
  double backward = 1;
  double weight = 1;
  double hop = 0;
};
OperationTimes UniformTimes(const PipelineOrder& order,
                            const UniformTime& time);

struct StageRun {
  // Seconds; one for each operation of the stage, in its order.
  std::vector<double> start;
  double end = 0;   // of the last operation
  double busy = 0;  // sum of the stage's operations

  // From the start of the first operation to the end of the last.
  double span() const { return end - start.front(); }
  // Within the span: the bubble of the zero-bubble papers.
  double idle() const { return span() - busy; }
};

struct NominalRun {
  std::vector<StageRun> stages;
  double seconds = 0;  // from a common start to the last end
};

// Requires: an order that is complete (see Validate()), and times of its
// virtual stages.
//
// Errors: INVALID_ARGUMENT where stages wait for each other in a circle; the
// message names the first operation that is stuck.
absl::StatusOr<NominalRun> RunNominally(const PipelineOrder& order,
                                        const OperationTimes& times);

// Most that idle() is on a stage. Requires: as RunNominally().
double LongestIdle(const NominalRun& run);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_SCHEDULES_NOMINAL_RUN_H_
