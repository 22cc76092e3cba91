// Timelines as Chrome trace events, which Perfetto and about:tracing show.
//
// One process a step, one thread a rank and, where tasks are recorded, one a
// rank and stream. Times are microseconds, to the nanosecond.
#ifndef PRISM_CLIENT_RENDER_PIPELINE_TRACE_H_
#define PRISM_CLIENT_RENDER_PIPELINE_TRACE_H_

#include <string>

#include "prism/v1/timeline.pb.h"

namespace prism::render {

// A JSON document ("JSON object format" of the Trace Event Format). Equal
// timelines give equal text: nothing in it belongs to one answer alone.
//
// On the thread of a rank operations and waits follow each other: "bubble" is
// a wait until an input is sent, "transfer" until it has come, "streams" until
// the rank's streams have ended. On threads of streams "members" is a wait for
// others of a group. Flows lead from senders to receivers that are recorded.
std::string PipelineTrace(const prism::v1::RecordTimelineResponse& response);

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_PIPELINE_TRACE_H_
