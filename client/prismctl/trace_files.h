// Opening the operator traces that commands name.
#ifndef PRISM_CLIENT_PRISMCTL_TRACE_FILES_H_
#define PRISM_CLIENT_PRISMCTL_TRACE_FILES_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "client/prismctl/session.h"
#include "core/trace/csv/csv_trace.h"
#include "core/trace/damage.h"

namespace prism::prismctl {

// A trace and the file behind it. Not thread-safe.
struct OpenTraceFile {
  std::string path;  // of the rows
  std::unique_ptr<trace::ByteSource> bytes;
  std::unique_ptr<trace::CsvTrace> trace;
};

// The trace at `path`: a CSV file, or a folder that holds one. Its sizes are
// those of the YAML beside it: meta-X.yaml for trace-X.csv, else the only
// meta*.yaml of the folder. What is wrong with either goes to `damage`, which
// must outlive the trace.
//
// Errors: INVALID_ARGUMENT with a message that reads on after `path`.
absl::StatusOr<OpenTraceFile> OpenTrace(const std::string& path,
                                        trace::DamageLog& damage);

// Says on standard error what is wrong with a trace.
void WriteDamage(const trace::DamageLog& damage, Session& session);

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_TRACE_FILES_H_
