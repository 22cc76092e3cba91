// What an execution trace of the host holds, for people and for programs.
#ifndef PRISM_CLIENT_IMPORT_HOST_SUMMARY_H_
#define PRISM_CLIENT_IMPORT_HOST_SUMMARY_H_

#include <string>

#include "core/trace/chakra/host_trace.h"

namespace prism::import {

// Within `columns` characters: steps, collectives, and the operators that are
// called most.
std::string HostSummaryText(const chakra::HostTrace& trace, int columns);

// One JSON object: schema, nodes, steps, collectives by kind, and all operators
// by name.
std::string HostSummaryJson(const chakra::HostTrace& trace);

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_HOST_SUMMARY_H_
