// Overlap: what is left of traffic that runs beside computation.
//
// Times are nominal seconds. What is left has two parts: what computation is
// too short to hide, and what the traffic takes from the computation that
// hides it (calibration::OverlapCosts).
#ifndef PRISM_CORE_ESTIMATE_OVERLAP_H_
#define PRISM_CORE_ESTIMATE_OVERLAP_H_

#include "core/calibration/constants.h"
#include "core/hardware/fabric.h"
#include "core/workload/job.h"

namespace prism::estimate {

const calibration::FrameworkCosts& CostsOf(
    workload::Framework framework, const calibration::Constants& constants);

// Traffic, and what it takes from the GPUs that run it (Cost::LinkSeconds).
struct Traffic {
  hardware::LinkTime time;
  double link_seconds = 0;

  Traffic& operator+=(const Traffic& other);
};

// What is left of a collective beside products of `product_seconds`, where the
// share `stays` stays of what they are long enough for.
hardware::LinkTime BesideProducts(const hardware::LinkTime& time,
                                  double product_seconds, double stays);

// What is left of `traffic` beside `window_seconds`; the share `alone` of it
// finds nothing to hide behind.
hardware::LinkTime BesideCompute(const Traffic& traffic, double window_seconds,
                                 double alone,
                                 const calibration::OverlapCosts& costs);

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_OVERLAP_H_
