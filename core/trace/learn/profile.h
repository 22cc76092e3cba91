// The step profile that comes closest to a StepModel.
//
// A profile says less than a trace shows: forwards and backwards have one law
// each for all stages, stages and ranks scale both alike, and what is shared
// is a factor for each micro-batch and one for each step. So,
//
//   forward, backward  a rank's own part of a compute, for a whole stage
//   stage_scale        mean work of a virtual stage over that of all
//   slowdown           mean work of a rank of its own over its stage's
//   microbatch_load    the shared part of a micro-batch's computes
//   transfer           work of receives
//   gradient_sync      mean of all that is neither compute nor optimizer
//   compute_regime     the effect of the step and, unless this varies by
//                      itself, what lengthens the step otherwise
//   network_regime     what lengthens the step otherwise, where it does
//
// A rank of the profile is a worker: tensor is 1, what its tensor group waits
// for is in its durations. Steps are those measured, delays included.
// Milliseconds. docs/model/trace-learning.md says what is lost.
#ifndef PRISM_CORE_TRACE_LEARN_PROFILE_H_
#define PRISM_CORE_TRACE_LEARN_PROFILE_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <string>
#include <vector>

#include "core/stats/fit.h"
#include "core/step/step_profile.h"
#include "core/trace/learn/step_model.h"

namespace prism::trace {

struct ProfileFit {
  std::string field;  // of the profile: "forward"
  stats::FitFamily family = stats::FitFamily::kEmpirical;
  double distance = 0;  // Kolmogorov-Smirnov, to the samples
  size_t samples = 0;
};

struct LearnedProfile {
  step::StepProfile profile;
  std::vector<ProfileFit> fits;  // those that are no constants
};

// Errors: FAILED_PRECONDITION where virtual stages do not lie on stages in
// turn.
absl::StatusOr<LearnedProfile> MakeProfile(const StepModel& model,
                                           stats::FitFamily family);

// Mean and p95, seconds.
struct MeanAndTail {
  double mean = 0;
  double p95 = 0;
};

struct ProfileCheck {
  MeanAndTail recorded;   // steps as measured
  MeanAndTail predicted;  // by the model
  MeanAndTail profile;    // by the profile
};

// What is lost from the model to the profile; deterministic.
//
// Errors: those of step::Simulate.
absl::StatusOr<ProfileCheck> CheckProfile(const StepModel& model,
                                          const step::StepProfile& profile);

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_LEARN_PROFILE_H_
