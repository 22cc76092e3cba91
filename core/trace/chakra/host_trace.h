// HostTrace: an execution trace of the host (PyTorch's ExecutionTraceObserver,
// JSON), which says what ran and in which order, but not for how long.
#ifndef PRISM_CORE_TRACE_CHAKRA_HOST_TRACE_H_
#define PRISM_CORE_TRACE_CHAKRA_HOST_TRACE_H_

#include <absl/status/status.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace prism::chakra {

struct HostCollective {
  int64_t calls = 0;
  int64_t bytes = 0;          // of the first tensor of each call, added up
  int64_t unknown_bytes = 0;  // calls whose tensor is not described
};

struct HostTrace {
  std::string schema;  // "1.1.0-chakra.0.0.4"
  int64_t nodes = 0;
  std::vector<std::string> steps;            // ProfilerStep#N, in order
  std::map<std::string, int64_t> operators;  // calls by name
  std::map<std::string, HostCollective> collectives;  // by kind
};

// Adds the node that `text` describes.
//
// Errors: INVALID_ARGUMENT where it is not a node; the message says why.
absl::Status AddNode(std::string_view text, HostTrace& trace);

}  // namespace prism::chakra

#endif  // PRISM_CORE_TRACE_CHAKRA_HOST_TRACE_H_
