// NominalShortlist: the replicas that decide the nominal step.
//
// With every GPU at its own speed, each of a thousand replicas would have to be
// simulated rank by rank to find the longest. A pass with lanes joined, in
// single precision, tells which can be it.
#ifndef PRISM_CORE_STEP_COMPOSITION_NOMINAL_SHORTLIST_H_
#define PRISM_CORE_STEP_COMPOSITION_NOMINAL_SHORTLIST_H_

#include <optional>
#include <vector>

#include "core/step/compiled_graph.h"

namespace prism::step {

// Replicas among which are, for every stage, the one whose operations end last
// when every draw is at its stated mean and, for every stage and lane, the one
// with the slowest rank. Nothing where the graph has no slowdowns or another
// structure than lanes that meet in every operation.
std::optional<std::vector<int>> NominalShortlist(const CompiledGraph& compiled);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_NOMINAL_SHORTLIST_H_
