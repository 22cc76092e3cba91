// A step profile as the message that a document holds.
#ifndef PRISM_CLIENT_IMPORT_PROFILE_MESSAGE_H_
#define PRISM_CLIENT_IMPORT_PROFILE_MESSAGE_H_

#include <string>

#include "core/trace/kineto/measured_profile.h"
#include "prism/v1/step_profile.pb.h"

namespace prism::import {

// Query reads the message back to the same profile, up to rounding: samples and
// constants are written with six significant digits, which is finer than any
// profiler's clock over a step.
prism::v1::StepProfile ProfileMessage(const kineto::MeasuredProfile& measured,
                                      const std::string& name);

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_PROFILE_MESSAGE_H_
