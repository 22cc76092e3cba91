// StepTimes: a step graph's durations as few numbers, at slowdown 1.
//
// What moving a job between nodes changes is how its stages' compute and its
// communication scale; these numbers are what they scale. Laws are reduced to
// mean and deviation; what lanes wait for each other inside an operation is
// part of its compute. docs/model/placement.md says what that neglects.
#ifndef PRISM_CORE_PLACEMENT_STEP_TIMES_H_
#define PRISM_CORE_PLACEMENT_STEP_TIMES_H_

#include <vector>

#include "core/step/step_graph.h"

namespace prism::placement {

// Seconds of one operation of one micro-batch.
struct OperationTime {
  double compute = 0;  // scales with the slowest lane's slowdown
  double network = 0;
  double deviation = 0;  // of both together
};

// Seconds of a stage behind its last operation.
struct ClosingTime {
  double network = 0;
  double optimizer = 0;  // scales with slowdown

  bool operator==(const ClosingTime&) const = default;
};

struct StepTimes {
  // [phase * virtual stages + virtual stage]; zeros where there is none.
  std::vector<OperationTime> operations;
  // By boundary between virtual stages.
  std::vector<double> forward_hop;
  std::vector<double> backward_hop;
  std::vector<ClosingTime> closing;  // by stage
  // Deviation of one lane's compute between two meetings of its group, as a
  // share of its mean: how much lanes of unlike speed hide each other.
  double lane_cv = 0;
};

// Requires: graph.Validate() is OK and its programs are chains of tasks.
StepTimes TimesOf(const step::StepGraph& graph);

}  // namespace prism::placement

#endif  // PRISM_CORE_PLACEMENT_STEP_TIMES_H_
