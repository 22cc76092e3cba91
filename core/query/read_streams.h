// What of a step profile runs beside computation, as checked values.
#ifndef PRISM_CORE_QUERY_READ_STREAMS_H_
#define PRISM_CORE_QUERY_READ_STREAMS_H_

#include "core/query/checker.h"
#include "core/query/field_path.h"
#include "core/step/step_profile.h"
#include "prism/v1/step_profile.pb.h"

namespace prism::query {

// Sets the segment's streams. Requires: its `sync` is set.
void ReadSegmentStreams(const prism::v1::Segment& message,
                        const FieldPath& path, Checker& checker,
                        step::ProfileSegment& segment);

// Sets the profile's fields about streams; those that change nothing for its
// segments are left as they are without. Requires: its sizes and segments are
// set.
void ReadStreams(const prism::v1::StepProfile& message, const FieldPath& path,
                 Checker& checker, step::StepProfile& profile);

}  // namespace prism::query

#endif  // PRISM_CORE_QUERY_READ_STREAMS_H_
