// StepKinds: what the time of one simulated step went to, by kind of task.
#ifndef PRISM_CORE_STEP_STREAMS_STEP_KINDS_H_
#define PRISM_CORE_STEP_STREAMS_STEP_KINDS_H_

#include <cstddef>
#include <vector>

#include "core/step/block_simulator.h"
#include "core/step/elements.h"
#include "core/step/simulate.h"
#include "core/step/step_graph.h"
#include "core/step/streams/kind_ledger.h"

namespace prism::step {

// Of the rank that ends last. What it spent on each kind and `bubble` sum to
// `seconds`.
struct StepKinds {
  double seconds = 0;
  std::vector<KindSeconds> kinds;  // as StepGraph::kinds
  double bubble = 0;               // what it waited for other ranks
};

// Of the step of elements [first, first + count), which are its replicas.
//
// Requires: `simulator` has run `elements` to their closing and tracked kinds.
StepKinds TakeStepKinds(const StepGraph& graph, const Elements& elements,
                        size_t first, size_t count, BlockSimulator& simulator);

// By name; two kinds of one name are added up.
KindTimes NamedKinds(const StepGraph& graph, const StepKinds& step);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_STREAMS_STEP_KINDS_H_
