// Builders of small step graphs, and short forms of simulation, for the tests
// of this folder.
#ifndef PRISM_CORE_STEP_TEST_SUPPORT_H_
#define PRISM_CORE_STEP_TEST_SUPPORT_H_

#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/budget.h"
#include "core/step/simulate.h"
#include "core/step/step_graph.h"
#include "core/step/step_profile.h"

namespace prism::step {

// Programs of EmptyGraph.
inline constexpr int kForwardProgram = 0;
inline constexpr int kBackwardProgram = 1;
inline constexpr int kClosingProgram = 2;

// A valid graph whose programs are empty: one virtual stage a stage, 1f1b,
// hops of no time, two streams.
StepGraph EmptyGraph(RankGrid grid, int microbatches = 1);

// A task of `seconds` on stream 0 that follows the one before it.
Task ConstantTask(StepGraph& graph, double seconds);

// Appends a segment of `tasks`.
void AddSegment(StepGraph& graph, int program, std::vector<Task> tasks,
                int64_t count = 1);

// A profile's segment without a collective.
ProfileSegment ComputeSegment(stats::Distribution compute_ms,
                              Sync sync = Sync::kNone, int64_t count = 1);

// A profile whose stages take `forward_ms` and `backward_ms`, split evenly
// over the chunks.
StepProfile ConstantProfile(ScheduleKind schedule, int stages, int chunks,
                            int microbatches, double forward_ms,
                            double backward_ms);

// The step time by Monte Carlo with `samples` samples on `threads` threads. A
// failure is a failed expectation and the result empty.
StepTime SimulateSamples(const StepGraph& graph, int64_t samples,
                         uint64_t random_key = 1, int threads = 1);

// Time that passes by being looked at. Thread-safe.
class ScriptedBudget final : public base::Budget {
 public:
  struct Script {
    absl::Duration per_look = absl::ZeroDuration();
    absl::Duration deadline = absl::InfiniteDuration();
    int64_t looks_until_cancelled = std::numeric_limits<int64_t>::max();
  };

  explicit ScriptedBudget(const Script& script) : script_(script) {}

  bool Cancelled() const override {
    return ++looks_ > script_.looks_until_cancelled;
  }
  absl::Duration Elapsed() const override {
    return ++looks_ * script_.per_look;
  }
  absl::Duration Remaining() const override {
    return script_.deadline - Elapsed();
  }

  int64_t looks() const { return looks_; }

 private:
  const Script script_;
  mutable std::atomic<int64_t> looks_{0};
};

// Seconds of a graph without randomness; expects that the nominal step and
// every quantile of the simulation agree on them.
double ConstantSeconds(const StepGraph& graph);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_TEST_SUPPORT_H_
