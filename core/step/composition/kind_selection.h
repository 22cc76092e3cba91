// KindSelection: which kinds of replicas are simulated, and for how many each
// stands.
//
// With every GPU at its own speed every replica is a kind of its own. Those
// that cannot be last are left out; of a crowd that can, the slowest are kept
// and the others stand for their neighbours in the order of nominal length.
#ifndef PRISM_CORE_STEP_COMPOSITION_KIND_SELECTION_H_
#define PRISM_CORE_STEP_COMPOSITION_KIND_SELECTION_H_

#include <absl/status/statusor.h>

#include <vector>

#include "core/base/budget.h"
#include "core/step/composition/pipeline_model.h"
#include "core/step/composition/replica_kinds.h"
#include "core/step/composition/replica_sampler.h"

namespace prism::step {

struct SelectedKinds {
  std::vector<ReplicaKind> kinds;
  // One per kind; empty where the graph has no slowdowns.
  std::vector<KindFactors> factors;
};

// Requires: `kinds` are those of `graph`; `closing_mean` has one entry per
// stage, in seconds.
//
// Errors: CANCELLED.
absl::StatusOr<SelectedKinds> SelectKinds(
    const StepGraph& graph, const PipelineModel& model,
    const std::vector<ReplicaKind>& kinds,
    const std::vector<double>& closing_mean, uint64_t random_key,
    const base::Budget& budget);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_KIND_SELECTION_H_
