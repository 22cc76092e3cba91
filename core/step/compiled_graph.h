// CompiledGraph: a step graph made ready for simulation, shared by all threads.
#ifndef PRISM_CORE_STEP_COMPILED_GRAPH_H_
#define PRISM_CORE_STEP_COMPILED_GRAPH_H_

#include <absl/status/statusor.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/stats/sampler.h"
#include "core/step/execution_plan.h"
#include "core/step/step_graph.h"

namespace prism::step {

// Samplers of a list of distributions, tabulated when the first is asked for:
// methods that do not draw from them spare the time. Thread-safe; copies share
// their tables.
class SamplerList {
 public:
  // Requires: the distributions outlive the list.
  explicit SamplerList(
      std::vector<const stats::Distribution*> distributions = {})
      : state_(std::make_shared<State>(std::move(distributions))) {}

  const stats::Sampler& operator[](size_t index) const;

 private:
  struct State {
    explicit State(std::vector<const stats::Distribution*> list)
        : distributions(std::move(list)) {}

    std::once_flag once;
    const std::vector<const stats::Distribution*> distributions;
    std::vector<stats::Sampler> samplers;
  };

  std::shared_ptr<State> state_;
};

// Immutable and thread-safe. Keeps a reference to the graph.
struct CompiledGraph {
  const StepGraph* graph = nullptr;
  ExecutionPlan plan;
  SamplerList samplers;         // by distribution
  SamplerList factor_samplers;  // by shared factor
  // By program: every task waits for the one before it alone, on stream 0, and
  // none is detached, so one clock per rank tells all.
  std::vector<bool> is_chain;
  // Some program is no chain, or operations of one kind run different ones.
  bool has_streams = false;
  // Rows of one lane that streams need: clocks, and ends of the last tasks.
  size_t stream_rows = 0;
  // Ranks of different replicas may wait for each other before the closing, or
  // close several times.
  bool replicas_interact = false;
};

// How many tasks before one of the program's the furthest that it waits for is;
// at least 1.
int64_t FurthestAwaited(const Program& program);

// Requires: `graph` outlives the result.
//
// Errors: INVALID_ARGUMENT where the graph is not valid or deadlocks.
absl::StatusOr<CompiledGraph> Compile(const StepGraph& graph);

// Draws of all ranks' operations in one step, at least 1.
double DrawsPerStep(const CompiledGraph& compiled);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPILED_GRAPH_H_
