// JoinedTrace: the traces of the ranks of one job, step by step.
#ifndef PRISM_CORE_TRACE_KINETO_JOINED_TRACE_H_
#define PRISM_CORE_TRACE_KINETO_JOINED_TRACE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/trace/kineto/breakdown.h"
#include "core/trace/kineto/collective_calls.h"
#include "core/trace/kineto/kernel_trace.h"
#include "core/trace/kineto/steps.h"

namespace prism::kineto {

// All activities of one name, of all ranks, that begin within a step.
struct KernelUse {
  std::string name;
  ActivityKind kind = ActivityKind::kCompute;
  int64_t count = 0;
  double mean_ns = 0;
  double sd_ns = 0;  // of the sample; 0 where it was seen once
  double share = 0;  // of the time of all activities
};

struct JoinedStep {
  int64_t number = 0;
  std::string name;
  int64_t duration_ns = 0;  // of the rank that took longest
  std::vector<StepBreakdown> by_trace;
};

struct JoinedTrace {
  std::vector<KernelTrace> traces;  // by rank; every one has a rank
  StepMark mark = StepMark::kWholeFile;
  StepClock clock = StepClock::kHost;
  double marked_mean_ns = 0;       // of the steps by the host's marks
  std::vector<JoinedStep> steps;   // those that every trace has; at least one
  std::vector<KernelUse> kernels;  // the largest share first
  int64_t activities_in_steps = 0;
  int64_t activities_outside = 0;  // that begin in no step
  CollectiveCalls collectives;
  // What a person should know about how the files were read: damage, what was
  // left out, what was taken for what. Sentences without the final stop.
  std::vector<std::string> notes;
};

// Joins traces by rank. A trace without a rank takes the lowest that is free.
// Steps are joined by number or, where no number is common, by order.
//
// Errors: INVALID_ARGUMENT where there are no traces, two are of one rank, a
// trace shows no device activity, or `options.mark` marks nothing; the message
// reads on after "prismctl: ".
absl::StatusOr<JoinedTrace> Join(std::vector<KernelTrace> traces,
                                 const StepOptions& options);

}  // namespace prism::kineto

#endif  // PRISM_CORE_TRACE_KINETO_JOINED_TRACE_H_
