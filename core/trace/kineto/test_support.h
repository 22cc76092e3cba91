// Traces for tests: read from text, and written event by event.
#ifndef PRISM_CORE_TRACE_KINETO_TEST_SUPPORT_H_
#define PRISM_CORE_TRACE_KINETO_TEST_SUPPORT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/kineto/kernel_trace.h"

namespace prism::kineto {

// The trace that `bytes`, fed `block` at a time, hold.
KernelTrace ReadBytes(std::string_view bytes, const std::string& file = "t",
                      size_t block = 4096);

// A file of tests/data/profiler-traces-kineto, as it is.
std::string TestData(const std::string& name);
KernelTrace ReadTestData(const std::string& name);

// The bytes as gzip writes them, and what they were.
std::string Gzip(std::string_view bytes);
std::string Gunzip(std::string_view bytes);

// Writes a trace file. Times are microseconds.
class TraceWriter {
 public:
  // A kernel on `stream`, launched at `launch` by host thread `thread`.
  TraceWriter& Kernel(const std::string& name, int64_t start, int64_t duration,
                      int64_t launch, int stream = 7, int thread = 1,
                      const std::string& more_args = "");
  // A copy on stream 7 that no launch is known of.
  TraceWriter& Copy(int64_t start, int64_t duration);
  // A stretch of host thread `thread`.
  TraceWriter& Annotation(const std::string& name, int64_t start,
                          int64_t duration, int thread = 1);
  TraceWriter& Operator(const std::string& name, int64_t start,
                        int64_t duration, int thread = 1);
  TraceWriter& Event(const std::string& json);
  TraceWriter& Rank(int rank, int world_size);

  std::string Text() const;
  KernelTrace Read() const { return ReadBytes(Text()); }

 private:
  int next_correlation_ = 1;
  std::string head_;
  std::vector<std::string> events_;
};

}  // namespace prism::kineto

#endif  // PRISM_CORE_TRACE_KINETO_TEST_SUPPORT_H_
