// TraceEvent: one event of a trace in Chrome's trace event format, as Kineto
// writes it.
#ifndef PRISM_CORE_TRACE_KINETO_TRACE_EVENT_H_
#define PRISM_CORE_TRACE_KINETO_TRACE_EVENT_H_

#include <absl/status/status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prism::kineto {

// What is used of an event's `args`, which are free-form.
struct EventArgs {
  std::optional<int64_t> correlation;
  std::optional<int64_t> device;
  std::optional<int64_t> stream;
  std::optional<int64_t> bytes;
  // Of collectives.
  std::string collective;               // "allreduce"
  std::optional<int64_t> elements_in;   // sent by a rank
  std::optional<int64_t> elements_out;  // received by a rank
  std::string element_type;             // "Float"
  std::optional<int64_t> group_size;    // ranks
  std::string group_name, group_ranks;  // "0", "[0, 1]"
  // Of operators: elements and type of the first tensor among the inputs.
  std::optional<int64_t> input_elements;
  std::string input_type;
};

struct TraceEvent {
  std::string phase;     // "X": complete, with a duration
  std::string category;  // "kernel", "cuda_runtime", ..
  std::string name;
  std::string process, thread;  // as written: numbers or names
  std::optional<int64_t> start_ns;
  std::optional<int64_t> duration_ns;
  EventArgs args;
  // Fields that the trace event format does not know.
  std::vector<std::string> unknown_fields;
};

// Errors: INVALID_ARGUMENT where `text` is not a JSON object or a known field
// cannot be read; the message says which.
absl::Status ParseEvent(std::string_view text, TraceEvent* event);

// Which rank wrote the file, as its field "distributedInfo" says.
struct DistributedInfo {
  std::optional<int64_t> rank, world_size;
};
DistributedInfo ParseDistributedInfo(std::string_view text);

// Nanoseconds of a number of microseconds as JSON writes it, exactly; digits
// beyond the third after the point are dropped. Nothing where it is not such a
// number or beyond some 200 years.
std::optional<int64_t> NanosecondsOfMicroseconds(std::string_view number);

}  // namespace prism::kineto

#endif  // PRISM_CORE_TRACE_KINETO_TRACE_EVENT_H_
