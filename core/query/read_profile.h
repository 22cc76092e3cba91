// Step profiles of a message as checked values.
#ifndef PRISM_CORE_QUERY_READ_PROFILE_H_
#define PRISM_CORE_QUERY_READ_PROFILE_H_

#include "core/query/checker.h"
#include "core/query/field_path.h"
#include "core/step/step_profile.h"
#include "prism/v1/step_profile.pb.h"

namespace prism::query {

// Factors of 1 are left out of `slowdown` and `stage_scale`, so that profiles
// that mean the same are the same. Valid if no check failed.
step::StepProfile ReadProfile(const prism::v1::StepProfile& message,
                              const FieldPath& path, Checker& checker);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_READ_PROFILE_H_
