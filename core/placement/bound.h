// A step that no placement beats.
#ifndef PRISM_CORE_PLACEMENT_BOUND_H_
#define PRISM_CORE_PLACEMENT_BOUND_H_

#include <absl/status/statusor.h>

#include "core/placement/job_model.h"
#include "core/placement/pool.h"

namespace prism::placement {

// Lower bound of StepMoments::mean over all placements from `pool`: with the
// best communication and the fastest nodes; of these the slowest must run
// somewhere, and k replicas hold the slowest (k - 1) q + 1 where each holds q.
// Each of them gets the best position for it and the fastest nodes around it.
//
// Errors: those of JobModel.
absl::StatusOr<double> LowestMean(JobModel& model, const Pools& pools,
                                  const Pool& pool, int draw_rows,
                                  double relative_deviation);

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_BOUND_H_
