// StepProgram: a recorded step, ready to be run with any durations.
//
//   start = latest end among what it follows, 0 where that is nothing
//   end   = start + work                      of an operation on its own
//         = latest start in its group + work  of a member of a group
//
// so that `work` of a member is its transfer alone and waiting follows from
// the others. Immutable and thread-safe; ends belong to the caller.
#ifndef PRISM_CORE_TRACE_REPLAY_STEP_PROGRAM_H_
#define PRISM_CORE_TRACE_REPLAY_STEP_PROGRAM_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/trace/replay/dependencies.h"

namespace prism::trace {

class StepProgram {
 public:
  // Errors: FAILED_PRECONDITION where operations wait for each other in a
  // circle, which only damaged recordings make them do.
  static absl::StatusOr<StepProgram> Compile(const Dependencies& dependencies);

  // Seconds until the last operation has ended. `work` and `ends` are by
  // operation; the ends are written. `delays`: what an operation begins later
  // than it could; empty: nothing.
  double Run(std::span<const double> work, std::span<double> ends,
             std::span<const double> delays = {}) const;

  size_t operations() const { return order_.size(); }

 private:
  struct Entry {
    int32_t operation = 0;
    int32_t group = kAlone;
    // What it follows: [first, last) in before_.
    int32_t first = 0, last = 0;
  };

  std::vector<Entry> order_;
  std::vector<int32_t> before_;
  // Members of group g: [group_first_[g], group_first_[g + 1]) in members_.
  std::vector<int32_t> group_first_, members_;
};

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_REPLAY_STEP_PROGRAM_H_
