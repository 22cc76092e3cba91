// The pipeline schedule that recorded steps followed.
#ifndef PRISM_CORE_TRACE_LEARN_RECORDED_ORDER_H_
#define PRISM_CORE_TRACE_LEARN_RECORDED_ORDER_H_

#include <absl/status/statusor.h>

#include "core/step/schedules/pipeline_order.h"
#include "core/step/step_profile.h"
#include "core/trace/learn/observations.h"

namespace prism::trace {

// The orders of the first replica's stages in the first step.
//
// Errors: FAILED_PRECONDITION where that is no valid order of virtual stages
// that lie on stages in turn.
absl::StatusOr<step::PipelineOrder> RecordedOrder(const Observations& observed,
                                                  int microbatches);

// Sets the profile's schedule: one of those with a name whose order it is,
// else custom. Requires: the layout is set.
void SetSchedule(const step::PipelineOrder& order, step::StepProfile& profile);

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_LEARN_RECORDED_ORDER_H_
