// RecordedStep: one step, what its operations waited for and how much of
// their recorded time was work.
//
// The work of an operation that waits for nobody is its duration. A member of
// a group works from the latest start in the group to its own end; what is
// before is waiting. Where that is more than 10 ms below 0 clocks do not
// agree, and it is 0. Where a member was not recorded, work is at most what
// is typical of the kind: the start that is missing may have been the latest.
//
// Immutable and thread-safe, but for Bound.
#ifndef PRISM_CORE_TRACE_REPLAY_RECORDED_STEP_H_
#define PRISM_CORE_TRACE_REPLAY_RECORDED_STEP_H_

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <vector>

#include "core/trace/replay/step_program.h"
#include "core/trace/trace.h"

namespace prism::trace {

// By kind, seconds.
using KindSeconds = std::array<double, kOperationKinds>;

class RecordedStep {
 public:
  // `step` must be in order. `made_up`: by operation, whether it was put in
  // the place of one that is missing; empty: none was.
  //
  // Errors: those of StepProgram::Compile.
  static absl::StatusOr<RecordedStep> From(Step step, const Sizes& sizes,
                                           std::vector<bool> made_up = {});

  // Holds the work of groups that lack a member to `typical`.
  void Bound(const KindSeconds& typical);

  const Step& step() const { return step_; }
  const StepProgram& program() const { return program_; }
  // By operation, seconds.
  const std::vector<double>& work() const { return work_; }
  // By operation: how much later it began than all it follows had ended.
  std::vector<double> Delays() const;
  // Whether the work is known and not held to what is typical.
  bool IsKnown(size_t operation) const { return !uncertain_[operation]; }
  double MeasuredSeconds() const { return measured_seconds_; }

 private:
  RecordedStep() = default;

  void SplitGroups(const std::vector<bool>& made_up);

  Step step_;
  Dependencies dependencies_;
  StepProgram program_;
  std::vector<double> work_;
  std::vector<bool> uncertain_;
  std::vector<bool> made_up_;
  double measured_seconds_ = 0;
};

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_REPLAY_RECORDED_STEP_H_
