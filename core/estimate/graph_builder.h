// GraphBuilder: writes a job's step as a step graph.
//
// Each virtual stage runs its layers as one repeated segment of few tasks: the
// operators between two collectives are one draw. The first virtual stage
// embeds as well, the last one ends in the head and its loss. Schedules that
// split backwards have a program for each part, and one for both together where
// the order joins them. Gradients are reduced when all backwards are done, then
// each GPU updates its parameters.
#ifndef PRISM_CORE_ESTIMATE_GRAPH_BUILDER_H_
#define PRISM_CORE_ESTIMATE_GRAPH_BUILDER_H_

#include <absl/status/statusor.h>

#include "core/estimate/cost.h"
#include "core/estimate/variation.h"
#include "core/step/schedules/pipeline_order.h"
#include "core/step/step_graph.h"
#include "core/workload/job.h"

namespace prism::estimate {

// The graph without what tells ranks apart: StepGraph::slowdown is empty
// (rank_slowdown.h).
//
// Requires: `cost` was made for `job`; `order` is one of its schedule;
// `step_seconds` is the nominal time of its step, nearly.
//
// Errors: those of `cost`.
absl::StatusOr<step::StepGraph> BuildJobGraph(const workload::Job& job,
                                              const Cost& cost,
                                              const Variation& variation,
                                              const step::PipelineOrder& order,
                                              double step_seconds);

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_GRAPH_BUILDER_H_
