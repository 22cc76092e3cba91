// TimelineRecorder: writes down what a few ranks do in a simulated step.
#ifndef PRISM_CORE_STEP_TIMELINE_RECORDER_H_
#define PRISM_CORE_STEP_TIMELINE_RECORDER_H_

#include <cstddef>
#include <vector>

#include "core/step/step_observer.h"
#include "core/step/timeline/selection.h"
#include "core/step/timeline/timeline.h"

namespace prism::step {

// Observes one sample. Not thread-safe.
class TimelineRecorder final : public StepObserver {
 public:
  // Requires: `compiled` outlives the recorder; the ranks exist and are sorted.
  TimelineRecorder(const CompiledGraph& compiled,
                   const std::vector<SelectedRank>& ranks);

  // What was recorded, rank by rank; the recorder is empty then.
  std::vector<TimelineRank> Take();

  void BlockBegins(const Elements& elements) override;
  void OperationBegins(const PlannedOperation& planned, const double* free,
                       const double* arrival) override;
  void OperationEnds(const PlannedOperation& planned, const double* end,
                     const double* arrival) override;
  void ClosingBegins(int stage, const double* begin) override;
  void ClosingEnds(int stage, const double* end) override;
  void TaskEnds(const Task& task, const double* ready,
                const double* end) override;

 private:
  struct Recorded {
    TimelineRank rank;
    int64_t room = 0;    // operations that may still be recorded
    bool open = false;   // the operation that runs is recorded
    bool here = false;   // in the block that is simulated
    size_t element = 0;  // of the block
  };
  // What a slot holds: which operation sent it, and when, by recorded rank's
  // lane and element.
  struct Sent {
    uint32_t id = 0;
    std::vector<double> seconds;
  };

  double At(const double* rows, const Recorded& recorded) const {
    return rows[recorded.rank.lane * stride_ + recorded.element];
  }
  double LatestOfGroup(const Task& task, const double* ready,
                       const Recorded& recorded) const;
  void End(int stage, const double* end);

  const StepGraph& graph_;
  std::vector<Recorded> recorded_;
  std::vector<Sent> sent_;       // by slot
  std::vector<size_t> element_;  // by replica, where it is in the block
  size_t stride_ = 0;
  int stage_ = kAbsent;  // that runs
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_TIMELINE_RECORDER_H_
