// KernelTrace: what one rank's device did, as its profiler recorded it.
//
// Plain values, compact: some 48 bytes for each kernel or copy. Times are
// nanoseconds on the clock of the trace.
#ifndef PRISM_CORE_TRACE_KINETO_KERNEL_TRACE_H_
#define PRISM_CORE_TRACE_KINETO_KERNEL_TRACE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/kineto/damage.h"

namespace prism::kineto {

enum class ActivityKind : uint8_t { kCompute, kCommunication, kMemory };

// Which part of the step launched an activity.
enum class Phase : uint8_t { kForward, kBackward, kOptimizer };
inline constexpr int kPhases = 3;

// A kernel, a copy or a fill.
struct Activity {
  int64_t start_ns = 0;
  int64_t end_ns = 0;       // at least start_ns
  int64_t launch_ns = 0;    // start_ns where the launch was not recorded
  int32_t name = 0;         // of KernelTrace::names
  int32_t stream = 0;       // of KernelTrace::streams
  int32_t collective = -1;  // of KernelTrace::collectives; -1: none
  ActivityKind kind = ActivityKind::kCompute;
  Phase phase = Phase::kForward;
};

struct Stream {
  int64_t device = 0;
  int64_t number = 0;

  auto operator<=>(const Stream&) const = default;
};

// What is known of a collective; the same for every call that is alike.
struct Collective {
  std::string kind;        // "all-reduce"; "unknown"
  std::string group;       // "" where the trace does not say
  int64_t group_size = 0;  // ranks; 0 where the trace does not say
  int64_t bytes = -1;      // of the larger buffer; -1: unknown

  auto operator<=>(const Collective&) const = default;
};

// A stretch of the host's time that a person or a framework named.
struct Annotation {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int32_t name = 0;  // of KernelTrace::names
};

struct KernelTrace {
  std::string file;
  std::optional<int64_t> rank, world_size;

  std::vector<std::string> names;
  std::vector<Stream> streams;
  std::vector<Collective> collectives;
  std::vector<Activity> activities;     // by start
  std::vector<Annotation> annotations;  // by start

  int64_t events = 0;      // of the file
  int64_t unlaunched = 0;  // activities whose launch was not recorded
  // Events that are no part of what is kept, by category or kind.
  std::map<std::string, int64_t> ignored;
  // Fields of events that the format does not know, by name.
  std::map<std::string, int64_t> unknown_fields;
  Damage damage;
};

struct StreamUse {
  Stream stream;
  int64_t activities = 0;
  int64_t busy_ns = 0;  // the durations added up
};

// By device and number.
std::vector<StreamUse> StreamUses(const KernelTrace& trace);

}  // namespace prism::kineto

#endif  // PRISM_CORE_TRACE_KINETO_KERNEL_TRACE_H_
