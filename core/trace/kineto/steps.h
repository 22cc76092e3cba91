// Where the steps of a trace begin and end.
#ifndef PRISM_CORE_TRACE_KINETO_STEPS_H_
#define PRISM_CORE_TRACE_KINETO_STEPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/kineto/kernel_trace.h"

namespace prism::kineto {

// What marks the steps, in the order in which it is looked for.
enum class StepMark {
  kGiven,         // annotations that the caller names
  kProfilerStep,  // annotations "ProfilerStep#N"
  kOptimizer,     // from the end of one "Optimizer.step" to that of the next
  kWholeFile,     // nothing: the device's activity is taken as one step
};

// Whose time a step is. The host's is what the marks say. Where the host runs
// ahead of the device, marks come before the work is done, and the first of
// them follow each other faster than the device works; the device's step lasts
// from the first activity that was launched in it to the first of the next.
enum class StepClock { kHost, kDevice };

struct StepWindow {
  std::string name;
  int64_t number = 0;  // N of ProfilerStep#N, or counted from 1
  int64_t start_ns = 0;
  int64_t end_ns = 0;  // at least start_ns
  // As marked by the host, whatever the clock.
  int64_t marked_ns = 0;
};

struct StepOptions {
  // How annotations that mark steps begin.
  std::optional<std::string> mark;
  // Unset: the device's where activities end more than 2% of a step after the
  // mark of the step that launched them, else the host's.
  std::optional<StepClock> clock;
};

struct Steps {
  StepMark mark = StepMark::kWholeFile;
  StepClock clock = StepClock::kHost;
  std::vector<StepWindow> windows;  // by start
  // Marked steps in which nothing was launched: not in `windows`.
  std::vector<std::string> empty;
};

// No windows where the trace has no activities or `options.mark` marks nothing.
Steps FindSteps(const KernelTrace& trace, const StepOptions& options);

}  // namespace prism::kineto

#endif  // PRISM_CORE_TRACE_KINETO_STEPS_H_
