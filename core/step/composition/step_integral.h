// StepIntegral: from the maxima over replicas to the step.
//
// What all replicas share is drawn here: the step-wide factors, each lane's
// closing collective, and the place of the latest replica in its law. That is
// a dozen numbers a step, so tens of thousands of steps cost less than one
// replica; every coordinate is stratified (a Latin hypercube).
#ifndef PRISM_CORE_STEP_COMPOSITION_STEP_INTEGRAL_H_
#define PRISM_CORE_STEP_COMPOSITION_STEP_INTEGRAL_H_

#include <array>
#include <vector>

#include "core/base/budget.h"
#include "core/step/composition/closing_model.h"
#include "core/step/composition/replica_maximum.h"
#include "core/step/step_time.h"

namespace prism::step {

// The maxima for one ratio of network to compute times.
struct RegimeNode {
  double log_ratio = 0;
  std::vector<MaximumLaw> stages;
  // Nodes of one sample have errors in common, others have none.
  int sample = 0;
};

// `nodes` with others between them, on a curve through all: cubics with the
// slopes of the parabolas through three neighbours, in the ratio itself. The
// time of a replica is a smooth convex function of it. Between two nodes there
// is nothing but a chord. Requires: rising ratios, one law a stage in `needed`.
std::vector<RegimeNode> RefineNodes(const std::vector<RegimeNode>& nodes,
                                    const std::vector<bool>& needed);

struct IntegralRequest {
  const StepGraph* graph = nullptr;
  std::vector<RegimeNode> nodes;  // by rising ratio, at least one
  std::vector<StageClosing> closings;
  // StepWideFactors of `graph`.
  std::vector<ScoreLaw> factors;
  // Stages that can be last; the laws of the others are not looked at.
  std::vector<bool> needed;
  uint64_t random_key = 0;
  int samples = 1 << 13;  // a power of two, at least 8
  // Looked at for cancellation between stages and lanes; may be null.
  const base::Budget* budget = nullptr;
};

struct IntegratedStep {
  StepTime time;
  // Of each quantile's standard error, the part that more simulated replicas
  // would lower.
  std::array<double, kQuantileLevels.size()> replica_error_seconds = {};
  // The part that more steps would lower.
  std::array<double, kQuantileLevels.size()> own_error_seconds = {};
};

// Laws of the step-wide factors of `graph` other than 1, in their order.
std::vector<ScoreLaw> StepWideFactors(const StepGraph& graph);

// Without a meaning where the budget was cancelled half-way.
IntegratedStep IntegrateStep(const IntegralRequest& request);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_STEP_INTEGRAL_H_
