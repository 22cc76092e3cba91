// The model's answer to what was measured.
#ifndef PRISM_CLIENT_VALIDATE_EVALUATE_H_
#define PRISM_CLIENT_VALIDATE_EVALUATE_H_

#include <absl/status/statusor.h>

#include "client/validate/measured.h"
#include "core/calibration/constants.h"

namespace prism::validate {

// Both in seconds, bytes or parameters; utilisations as the seconds of a step.
struct Outcome {
  double predicted = 0;
  double measured = 0;
};

// A step's is its nominal time: every duration at its mean.
//
// Errors: UNIMPLEMENTED where the model has no answer; INVALID_ARGUMENT where
// the question is wrong, with all that is; those of estimate::BuildEstimate().
absl::StatusOr<Outcome> Evaluate(const Measured& measured,
                                 const calibration::Constants& constants);

// "seconds".
const char* UnitOf(Quantity quantity);

}  // namespace prism::validate

#endif  // PRISM_CLIENT_VALIDATE_EVALUATE_H_
