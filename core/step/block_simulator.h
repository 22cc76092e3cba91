// BlockSimulator: all operations of a block of elements, then the closing.
#ifndef PRISM_CORE_STEP_BLOCK_SIMULATOR_H_
#define PRISM_CORE_STEP_BLOCK_SIMULATOR_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/budget.h"
#include "core/step/compiled_graph.h"
#include "core/step/elements.h"
#include "core/step/program_runner.h"
#include "core/step/step_observer.h"

namespace prism::step {

// Not thread-safe: one per thread, reused from block to block.
class BlockSimulator {
 public:
  // Requires: `compiled` outlives the simulator.
  BlockSimulator(const CompiledGraph& compiled, uint64_t random_key,
                 DrawMode mode);

  // Elements of one block that keep its rows within a core's cache.
  static size_t PreferredElements(const CompiledGraph& compiled);

  // Runs every operation of `elements`; false where the budget was cancelled
  // or ran out half-way, or the memory did. Afterwards clock(stage) holds when
  // each rank is done, its streams included.
  bool RunOperations(const Elements& elements, bool whole_samples,
                     const base::Budget& budget);

  // What is remembered of communication under way may take about so much;
  // without a limit, any.
  void LimitMemory(size_t bytes) { memory_limit_ = bytes; }
  // Whether operations were left half-way because they needed more.
  bool out_of_memory() const { return out_of_memory_; }

  // Runs the closing of every stage from the clocks in clock(stage), unless
  // the graph is continuous and has closed already.
  // Requires: the block is of whole samples.
  void RunClosing();

  // Prepares clocks for RunClosing without operations, all 0.
  void ResetClocks(const Elements& elements, bool whole_samples);

  // Rows [lane][element].
  double* clock(int stage) { return &clock_[stage * rows_]; }
  // When the step began that is measured: the ends of the last update but one
  // of a continuous graph, else null for the start of the clocks.
  const double* begin(int stage) const {
    return begin_.empty() ? nullptr : &begin_[stage * rows_];
  }

  // Time each rank spent by kind; see ProgramRunner::TrackKinds.
  ProgramRunner& runner() { return runner_; }

  // Shows what is simulated from the next block on; null: to nobody.
  // Requires: `observer` outlives the simulator or is replaced.
  void Observe(StepObserver* observer) {
    observer_ = observer;
    runner_.Observe(observer);
  }

 private:
  void RunPlanned(const PlannedOperation& planned);
  bool MayGoOn(const base::Budget& budget);
  void RunOperation(const PlannedOperation& planned);
  void RunUpdate(const PlannedOperation& planned);
  void Close(int stage, uint32_t id);
  // Rows of a slot; null where it is kAbsent.
  const double* Arrival(int slot) const;
  void AwaitArrival(const PlannedOperation& planned, double* clock);
  void BookHop(const PlannedOperation& planned, const double* clock);

  const CompiledGraph& compiled_;
  const StepGraph& graph_;
  ProgramRunner runner_;
  StepObserver* observer_ = nullptr;
  size_t memory_limit_ = std::numeric_limits<size_t>::max();
  bool out_of_memory_ = false;
  const Elements* elements_ = nullptr;
  size_t stride_ = 0;
  size_t rows_ = 0;
  std::vector<double> clock_;    // [stage][lane][element]
  std::vector<double> begin_;    // the same; empty unless continuous
  std::vector<double> arrival_;  // [slot][lane][element]
  // Where kinds are tracked: seconds of the hop under way, [slot][element].
  std::vector<double> hop_seconds_;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_BLOCK_SIMULATOR_H_
