// PipelineClock: when the stages of a pipeline are done, without a graph.
//
// For gpipe, 1f1b, and interleaving of whole rounds. All micro-batches of a
// virtual stage take the same time, so a schedule that goes round and round
// soon repeats itself: one round adds the same to every clock. Rounds are run
// until that is so, the rest are added at once, and the end of the schedule is
// run as it is. The result is that of running all operations in the order of
// step::MakeOrder().
#ifndef PRISM_CORE_ESTIMATE_PIPELINE_CLOCK_H_
#define PRISM_CORE_ESTIMATE_PIPELINE_CLOCK_H_

#include <cstdint>
#include <vector>

#include "core/step/schedule.h"

namespace prism::estimate {

// A pipeline's schedule and times. Seconds.
struct PipelineTimes {
  step::ScheduleKind schedule = step::ScheduleKind::kOneForwardOneBackward;
  int stages = 1;
  int chunks = 1;  // of each stage
  int microbatches = 1;
  // By virtual stage, chunk * stages + stage.
  std::vector<double> forward;
  std::vector<double> backward;
  // By boundary: from virtual stage u to u + 1 and back.
  std::vector<double> forward_hop;
  std::vector<double> backward_hop;
};

// Keeps scratch between calls: not thread-safe.
class PipelineClock final {
 public:
  // Whether it runs the schedule; others must be run operation by operation.
  static bool Runs(step::ScheduleKind schedule, int stages, int microbatches);

  // End of the last operation of each stage; valid until the next call.
  //
  // Requires: Runs(), a shape that the schedule takes, and times of all virtual
  // stages and boundaries.
  const std::vector<double>& StageEnds(const PipelineTimes& times);

 private:
  // Clocks of all stages between two turns. In a turn every stage runs its
  // next forward and its next backward, if it has one; stage s is s backwards
  // ahead of the first, so that what a turn waits for has ended in turns
  // before, or in forwards of the stages before it.
  struct State {
    std::vector<double> free;      // end of the last operation
    std::vector<double> forward;   // of the last forward
    std::vector<double> backward;  // of the last backward
  };

  void Start(const PipelineTimes& times);
  void RunGpipe();
  // All forwards, then all backwards, where there is but one round.
  void RunOneRound();
  void RunRounds();
  void TurnForward(int64_t turn);
  void TurnBackward(int64_t turn);
  // Times of the chunk that stage `s` runs now.
  void TakeForward(int s, int chunk);
  void TakeBackward(int s, int chunk);
  // Whether every clock is later than `before_` by the same.
  bool Repeats(double& added) const;
  void Advance(double seconds);

  const PipelineTimes* times_ = nullptr;
  int64_t ahead_ = 0;  // forwards of the first stage before its first backward
  int64_t count_ = 0;  // forwards of one stage
  State state_;
  State before_;
  // Of the chunks that run now: times, and hops of what they wait for, minus
  // infinity where there is none.
  std::vector<double> forward_, forward_hop_;
  std::vector<double> backward_, backward_hop_;
};

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_PIPELINE_CLOCK_H_
