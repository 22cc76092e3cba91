// How a trace was read, in sentences.
#ifndef PRISM_CORE_TRACE_KINETO_TRACE_NOTES_H_
#define PRISM_CORE_TRACE_KINETO_TRACE_NOTES_H_

#include <string>
#include <vector>

#include "core/trace/kineto/joined_trace.h"
#include "core/trace/kineto/kernel_trace.h"
#include "core/trace/kineto/steps.h"

namespace prism::kineto {

// How much of `file` is damaged, and the first places; none if nothing is.
std::vector<std::string> NotesOfDamage(const std::string& file,
                                       const Damage& damage, int64_t events);

// Damage, unknown fields, launches that are missing, steps without activity.
std::vector<std::string> NotesOfFile(const KernelTrace& trace,
                                     const Steps& steps);

// What was taken for a step, on whose clock, which steps and calls are missing
// and how many ranks were not read.
std::vector<std::string> NotesOfJoin(const JoinedTrace& joined);

}  // namespace prism::kineto

#endif  // PRISM_CORE_TRACE_KINETO_TRACE_NOTES_H_
