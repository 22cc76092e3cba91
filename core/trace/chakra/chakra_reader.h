// ChakraReader: one rank's Chakra execution trace, bytes by bytes.
//
// Reads the protobuf stream (docs/import.md), plain or gzip, and the JSON that
// PyTorch's ExecutionTraceObserver writes. Nothing in a file is fatal: what
// cannot be read is counted and named. Memory grows with the nodes and their
// dependencies. Not thread-safe.
#ifndef PRISM_CORE_TRACE_CHAKRA_CHAKRA_READER_H_
#define PRISM_CORE_TRACE_CHAKRA_CHAKRA_READER_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/trace/chakra/host_trace.h"
#include "core/trace/kineto/kernel_trace.h"

namespace prism::chakra {

struct ChakraTrace {
  // What the device did. Where starts were not recorded, nodes start as early
  // as their dependencies and the thread or stream they run on allow.
  kineto::KernelTrace kernels;
  bool has_starts = false;
  // Of the JSON form alone, which has no times and so no kernels.
  std::optional<HostTrace> host;
};

class ChakraReader {
 public:
  explicit ChakraReader(std::string file);
  ~ChakraReader();

  void Feed(std::string_view bytes);
  // To be called once, after the last bytes.
  ChakraTrace Finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace prism::chakra

#endif  // PRISM_CORE_TRACE_CHAKRA_CHAKRA_READER_H_
