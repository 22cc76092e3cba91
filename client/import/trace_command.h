// prismctl import trace: operator traces as step profiles.
#ifndef PRISM_CLIENT_IMPORT_TRACE_COMMAND_H_
#define PRISM_CLIENT_IMPORT_TRACE_COMMAND_H_

#include "client/prismctl/command.h"

namespace prism::import {

// `import trace TRACE [--fit FAMILY]`. Runs in process, whatever the server.
// What was found in the trace and how near the profile comes goes to standard
// error.
prismctl::Command TraceCommand();

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_TRACE_COMMAND_H_
