// Graphs of continuous runs, for tests.
#ifndef PRISM_CORE_STEP_SCHEDULES_CONTINUOUS_SUPPORT_H_
#define PRISM_CORE_STEP_SCHEDULES_CONTINUOUS_SUPPORT_H_

#include <vector>

#include "core/stats/distribution.h"
#include "core/step/schedules/asynchronous.h"
#include "core/step/step_graph.h"

namespace prism::step {

// Laws of a run's operations, in seconds.
struct RunLaws {
  std::vector<stats::Distribution> forward;   // by virtual stage
  std::vector<stats::Distribution> backward;  // the same; empty: none run
  stats::Distribution hop;
  stats::Distribution reduction;  // of the update: replicas meet, one draw
  stats::Distribution update;     // a draw of each rank
  stats::Distribution upload;     // of fetches, on stream 1
};

// All passes take the same constants.
RunLaws ConstantLaws(const ContinuousRun& run, double forward, double backward,
                     double hop = 0, double update = 0);

StepGraph GraphOf(const ContinuousRun& run, const RunLaws& laws,
                  int replicas = 1);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_SCHEDULES_CONTINUOUS_SUPPORT_H_
