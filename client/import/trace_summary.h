// What the profiler traces of a job show, for people and for programs.
#ifndef PRISM_CLIENT_IMPORT_TRACE_SUMMARY_H_
#define PRISM_CLIENT_IMPORT_TRACE_SUMMARY_H_

#include <string>

#include "core/trace/kineto/joined_trace.h"
#include "core/trace/kineto/measured_profile.h"

namespace prism::import {

// Tables within `columns` characters: step times measured and predicted, what
// the device of each rank did with a step, streams, collectives and the kernels
// that take most time.
std::string TraceSummaryText(const kineto::JoinedTrace& joined,
                             const kineto::ProfileCheck& check, int columns);

// The same as one JSON object, with every step and every kernel
// (docs/import.md has its keys).
std::string TraceSummaryJson(const kineto::JoinedTrace& joined,
                             const kineto::ProfileCheck& check);

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_TRACE_SUMMARY_H_
