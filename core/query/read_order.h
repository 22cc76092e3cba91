// Reads how a step profile's stages order their operations.
#ifndef PRISM_CORE_QUERY_READ_ORDER_H_
#define PRISM_CORE_QUERY_READ_ORDER_H_

#include "core/query/checker.h"
#include "core/query/field_path.h"
#include "core/step/step_profile.h"
#include "prism/v1/step_profile.pb.h"

namespace prism::query {

// The schedule of a profile; 1f1b where it is unset.
step::ScheduleKind ReadSchedule(const prism::v1::StepProfile& message,
                                const FieldPath& path, Checker& checker);

// Checks that the schedule takes the layout, and reads what a custom or an
// automatic one has besides.
//
// Requires: `profile` has its sizes and its schedule.
void ReadOrder(const prism::v1::StepProfile& message, const FieldPath& path,
               Checker& checker, step::StepProfile& profile);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_READ_ORDER_H_
