#include "core/trace/replay/recorded_step.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace prism::trace {
namespace {

// Two clocks that differ by more are not to be trusted.
constexpr double kClockSeconds = 1e-2;

}  // namespace

absl::StatusOr<RecordedStep> RecordedStep::From(Step step, const Sizes& sizes,
                                                std::vector<bool> made_up) {
  RecordedStep recorded;
  recorded.step_ = std::move(step);
  recorded.made_up_ = std::move(made_up);
  recorded.made_up_.resize(recorded.step_.operations.size(), false);
  recorded.dependencies_ = FindDependencies(recorded.step_, sizes);
  auto program = StepProgram::Compile(recorded.dependencies_);
  if (!program.ok()) return program.status();
  recorded.program_ = *std::move(program);
  recorded.measured_seconds_ = trace::MeasuredSeconds(recorded.step_);
  recorded.uncertain_ = recorded.made_up_;
  for (const Operation& operation : recorded.step_.operations) {
    recorded.work_.push_back(operation.duration_seconds);
  }
  recorded.SplitGroups(recorded.made_up_);
  return recorded;
}

void RecordedStep::SplitGroups(const std::vector<bool>& made_up) {
  for (size_t g = 0; g < dependencies_.groups.size(); ++g) {
    double latest = -std::numeric_limits<double>::infinity();
    bool uncertain = dependencies_.incomplete[g];
    for (const int32_t member : dependencies_.groups[g]) {
      const auto i = static_cast<size_t>(member);
      latest = std::max(latest, step_.operations[i].start_seconds);
      uncertain = uncertain || made_up[i];
    }
    for (const int32_t member : dependencies_.groups[g]) {
      const auto i = static_cast<size_t>(member);
      const double work = step_.operations[i].end_seconds() - latest;
      work_[i] = work <= -kClockSeconds ? 0 : work;
      uncertain_[i] = uncertain;
    }
  }
}

void RecordedStep::Bound(const KindSeconds& typical) {
  for (size_t i = 0; i < work_.size(); ++i) {
    if (!uncertain_[i]) continue;
    const double most = typical[static_cast<size_t>(step_.operations[i].kind)];
    const bool in_group = dependencies_.group[i] != kAlone;
    if (in_group) work_[i] = made_up_[i] ? most : std::min(work_[i], most);
  }
}

std::vector<double> RecordedStep::Delays() const {
  double first = std::numeric_limits<double>::infinity();
  for (const Operation& operation : step_.operations) {
    first = std::min(first, operation.start_seconds);
  }
  std::vector<double> free(step_.operations.size(), first);
  for (const auto& [before, after] : dependencies_.edges) {
    double& latest = free[static_cast<size_t>(after)];
    latest = std::max(
        latest, step_.operations[static_cast<size_t>(before)].end_seconds());
  }
  for (size_t i = 0; i < free.size(); ++i) {
    free[i] = step_.operations[i].start_seconds - free[i];
  }
  return free;
}

}  // namespace prism::trace
