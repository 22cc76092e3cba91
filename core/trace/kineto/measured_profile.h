// A step profile of what a trace recorded.
#ifndef PRISM_CORE_TRACE_KINETO_MEASURED_PROFILE_H_
#define PRISM_CORE_TRACE_KINETO_MEASURED_PROFILE_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "core/step/step_profile.h"
#include "core/trace/kineto/joined_trace.h"

namespace prism::kineto {

struct MeasuredProfile {
  // One replica for each rank read, one micro-batch, no pipeline.
  step::StepProfile profile;
  // Names of the segments of `profile.forward` and `profile.backward`.
  std::vector<std::string> forward_names, backward_names;
  // Whether the parts of a step vary independently of each other, as far as
  // the steps show; else a factor drawn once a step carries the variation.
  bool parts_are_independent = false;
};

// The profile whose steps are like the recorded ones.
//
// A rank's own time in a phase (kernels and copies; idle time) is a segment.
// The ranks wait for each other in what is exposed of the forward's
// collectives, and at the end in what is exposed of the backward's and the
// optimizer's. With several ranks, what the rank that waits least has exposed
// is transfer, and the closing has what makes a step as long as it was.
//
// Which parts vary together is tested, not assumed: with at least 8 steps, a
// permutation test at 5% compares the spread of the sum to that of shuffled
// parts. Parts of one rank that vary independently are drawn from their own
// recorded times, if the method that answers by default can find the law of
// their sum. Otherwise parts and communication keep their means, and one factor
// a step (`compute_regime`) is drawn that gives the recorded steps.
//
// Several ranks: the own time of a rank in a step is the mean times a factor of
// the rank (`slowdown`), one of the step (`compute_regime`) and what is left
// (`microbatch_load`).
MeasuredProfile MakeProfile(const JoinedTrace& joined);

struct ProfileCheck {
  double measured_mean_seconds = 0;
  double predicted_mean_seconds = 0;
  double predicted_p50_seconds = 0;
  double predicted_p95_seconds = 0;

  // (predicted - measured) / measured.
  double relative_error() const;
};

// What `profile` predicts against what was measured; deterministic.
//
// Errors: those of step::Simulate.
absl::StatusOr<ProfileCheck> CheckProfile(const MeasuredProfile& profile,
                                          const JoinedTrace& joined);

}  // namespace prism::kineto

#endif  // PRISM_CORE_TRACE_KINETO_MEASURED_PROFILE_H_
