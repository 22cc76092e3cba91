// Layer times: one layer by itself, as a profile of a single layer measures it.
#ifndef PRISM_CORE_ESTIMATE_LAYER_TIMES_H_
#define PRISM_CORE_ESTIMATE_LAYER_TIMES_H_

#include <absl/status/statusor.h>

#include "core/calibration/constants.h"
#include "core/estimate/costed_task.h"
#include "core/estimate/variation.h"
#include "core/hardware/cluster.h"
#include "core/workload/job.h"

namespace prism::estimate {

// Nominal seconds of one layer for one micro-batch on the GPUs of a tensor
// group, its collectives included; recomputation counts as backward.
struct LayerTimes {
  KindSeconds forward;
  KindSeconds backward;
};

// Requires: `job` is valid and fits `cluster`.
//
// Errors: those of BuildEstimate().
absl::StatusOr<LayerTimes> LayerTimesOf(
    const workload::Job& job, const hardware::Cluster& cluster,
    const calibration::Constants& constants = {},
    const Variation& variation = {});

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_LAYER_TIMES_H_
