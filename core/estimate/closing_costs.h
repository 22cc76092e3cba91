// Closing costs: what follows the last operation of a stage. Gradients are
// reduced, each GPU updates its parameters, and weights are gathered again.
#ifndef PRISM_CORE_ESTIMATE_CLOSING_COSTS_H_
#define PRISM_CORE_ESTIMATE_CLOSING_COSTS_H_

#include <absl/status/statusor.h>

#include <cstdint>

#include "core/estimate/cost.h"
#include "core/estimate/costed_task.h"
#include "core/estimate/overlap.h"
#include "core/workload/job.h"

namespace prism::estimate {

// Of one stage, as if nothing ran beside anything.
struct ClosingCosts {
  Traffic reduction;  // of gradients
  Traffic gathering;  // of weights
  // Of both, what is due after the last backward, or before the first forward:
  // of the last, or first, chunk or layer.
  double alone_share = 1;
  // Of layers that are sharded whole: what their own passes do not hide.
  hardware::LinkTime unhidden;
  // Sum of gradients with another stage that holds the same: of a tied
  // embedding, or in DualPipe of everything. 0 where there are none.
  hardware::LinkTime copies;
  double optimizer_seconds = 0;
  double host_seconds = 0;
};

// Errors: those of `cost`.
absl::StatusOr<ClosingCosts> CostOfClosing(const workload::Job& job,
                                           const Cost& cost, double slowdown,
                                           int64_t stage);

// The tasks of a closing, with what is left of traffic that runs beside the
// stage's own forwards and backwards.
//
// `forward_seconds` and `backward_seconds`: windows (KindSeconds::window) of
// one micro-batch on all virtual stages of the stage; of a split backward that
// of its weight part.
CostedTasks ClosingTasks(const workload::Job& job, const ClosingCosts& costs,
                         double forward_seconds, double backward_seconds,
                         const calibration::OverlapCosts& overlap);

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_CLOSING_COSTS_H_
