// Explanations of recorded traces, from their replay.
#ifndef PRISM_CLIENT_PRISMCTL_EXPLAIN_TRACE_H_
#define PRISM_CLIENT_PRISMCTL_EXPLAIN_TRACE_H_

#include "core/trace/replay/replay.h"
#include "prism/v1/explanation.pb.h"

namespace prism::prismctl {

// What a replay says, as of a job: for every kind of operation, stage, data
// rank and worker the recorded steps with that one typical. The variance is
// that between steps. Of workers the 16 that cost most are kept. Critical paths
// are not followed.
prism::v1::Explanation ExplanationOf(const trace::ReplayReport& report);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_EXPLAIN_TRACE_H_
