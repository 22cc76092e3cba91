// What a device did with the time of its steps.
#ifndef PRISM_CORE_TRACE_KINETO_BREAKDOWN_H_
#define PRISM_CORE_TRACE_KINETO_BREAKDOWN_H_

#include <array>
#include <cstdint>
#include <vector>

#include "core/trace/kineto/kernel_trace.h"
#include "core/trace/kineto/steps.h"

namespace prism::kineto {

// Every instant counts once: as computing while any kernel computes; else as
// exposed communication while any communicates; else as exposed copying while
// any copy or fill runs; else as idle. Nanoseconds.
struct PhaseTime {
  int64_t compute_ns = 0;
  int64_t exposed_communication_ns = 0;
  int64_t exposed_copy_ns = 0;
  int64_t idle_ns = 0;

  int64_t total_ns() const {
    return compute_ns + exposed_communication_ns + exposed_copy_ns + idle_ns;
  }
  PhaseTime& operator+=(const PhaseTime& other);
};

// Idle time belongs to the phase of what the device waits for, and behind the
// last activity of a step to that of the last.
struct StepBreakdown {
  std::array<PhaseTime, kPhases> phases;
  // In which anything communicates, exposed or not.
  int64_t communication_ns = 0;

  // Over the phases; total_ns() of it is the length of the step.
  PhaseTime sum() const;
};

// One for each of `windows`, which must be in order and must not overlap.
// Activities that cross an edge count on both sides, each its part.
std::vector<StepBreakdown> BreakDown(const KernelTrace& trace,
                                     const std::vector<StepWindow>& windows);

}  // namespace prism::kineto

#endif  // PRISM_CORE_TRACE_KINETO_BREAKDOWN_H_
