// A step profile learned from a trace as the message that a document holds.
#ifndef PRISM_CLIENT_IMPORT_LEARNED_PROFILE_MESSAGE_H_
#define PRISM_CLIENT_IMPORT_LEARNED_PROFILE_MESSAGE_H_

#include <string>

#include "core/step/step_profile.h"
#include "prism/v1/step_profile.pb.h"

namespace prism::import {

// Query reads the message back to the same profile, up to rounding to six
// significant digits. Requires: the schedule is one that traces are learned
// with (core/trace/learn/recorded_order.h).
prism::v1::StepProfile LearnedProfileMessage(const step::StepProfile& profile,
                                             const std::string& name);

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_LEARNED_PROFILE_MESSAGE_H_
