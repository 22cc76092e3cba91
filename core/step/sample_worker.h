// SampleWorker: whole steps, one after the other, on one thread.
#ifndef PRISM_CORE_STEP_SAMPLE_WORKER_H_
#define PRISM_CORE_STEP_SAMPLE_WORKER_H_

#include <cstddef>
#include <cstdint>

#include "core/base/budget.h"
#include "core/step/block_simulator.h"
#include "core/step/compiled_graph.h"
#include "core/step/elements.h"
#include "core/step/step_observer.h"

namespace prism::step {

// Not thread-safe: one per thread. A sample's value depends on the graph, the
// key and its number alone.
class SampleWorker {
 public:
  // Requires: `compiled` outlives the worker.
  SampleWorker(const CompiledGraph& compiled, uint64_t random_key,
               DrawMode mode = DrawMode::kRandom);

  // Writes the seconds of steps [first, first + count) to `step_seconds`;
  // false where the budget was cancelled or ran out half-way, or the memory
  // did.
  bool Run(int64_t first, int64_t count, const base::Budget& budget,
           double* step_seconds);

  // As of BlockSimulator.
  void LimitMemory(size_t bytes) { operations_.LimitMemory(bytes); }
  bool out_of_memory() const { return operations_.out_of_memory(); }

  // The rank that was done last in the first step of the last Run; the lowest
  // of several.
  int64_t LastRank();

  // Shows what Run simulates from now on, to nobody where `observer` is null.
  // Requires: `observer` outlives the worker or is replaced.
  void Observe(StepObserver* observer);
  // The same of closings alone, where they are run apart from the operations:
  // of graphs whose replicas do not interact.
  void ObserveClosing(StepObserver* observer) { closing_.Observe(observer); }

 private:
  void FillElements(int64_t first, int64_t count);
  void CopyClocks(size_t begin, size_t size);
  void TakeSeconds(int64_t count, double* step_seconds);
  // The latest of all ranks' rows(stage), by sample.
  template <typename Rows>
  void TakeLatest(const Rows& rows, double* seconds) const;
  // Whose clocks say when the ranks are done.
  BlockSimulator& ended() {
    return compiled_.replicas_interact ? operations_ : closing_;
  }

  const CompiledGraph& compiled_;
  const size_t block_size_;
  BlockSimulator operations_;
  BlockSimulator closing_;
  Elements all_, part_;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_SAMPLE_WORKER_H_
