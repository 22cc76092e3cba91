// Kinds of replicas: those whose ranks have the same slowdowns.
#ifndef PRISM_CORE_STEP_COMPOSITION_REPLICA_KINDS_H_
#define PRISM_CORE_STEP_COMPOSITION_REPLICA_KINDS_H_

#include <vector>

#include "core/step/step_graph.h"

namespace prism::step {

struct ReplicaKind {
  int first_replica = 0;  // stands for all of them
  int count = 1;          // replicas of this kind
};

// The kinds of `graph`'s replicas, in the order of their first replicas. One
// kind where the graph has no slowdowns.
std::vector<ReplicaKind> FindReplicaKinds(const StepGraph& graph);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_REPLICA_KINDS_H_
