// Explains a step: which sources make it long, which make it vary, and what it
// would be without each.
//
// Three numbers say three things. A source that takes a large share of the
// *mean* is worth making faster. One that makes a large share of the *variance*
// is worth making steadier; how much it varies by itself says little of that,
// because independent draws average out along a chain, draws beside the
// critical path wait for it anyway, and a small factor that all share does
// neither. *Criticality* says how often the end of the step waited for it.
#ifndef PRISM_CORE_EXPLAIN_EXPLAIN_H_
#define PRISM_CORE_EXPLAIN_EXPLAIN_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/explain/compared_steps.h"
#include "core/explain/source.h"
#include "core/step/step_graph.h"
#include "core/step/step_time.h"

namespace prism::explain {

// The step under a change, against the step as it is.
struct StepWithout {
  Difference mean, p50, p95;  // seconds more than the step as it is
};

struct Cause {
  Source source;
  // Of the mean critical path, and in how many of the paths it is. 0 where none
  // was followed.
  double share_of_mean = 0;
  double criticality = 0;
  // See VarianceShare: with the source typical.
  Difference share_of_variance;
  StepWithout without;
  // Standard deviation of what the source takes on one rank in one step, as if
  // nothing else were. Of a shared factor that of what it multiplies; 0 of
  // stages and ranks.
  double own_deviation_seconds = 0;
};

struct Changed {
  StepWithout without;
  step::StepTime time;
};

struct Explanation {
  step::StepTime time;
  step::Method method = step::Method::kMonteCarlo;
  step::Quality quality = step::Quality::kExact;
  int64_t samples = 0;
  int64_t paths = 0;          // steps whose critical path was followed
  std::vector<Cause> causes;  // by `by`, the largest first: by share
                              // of the variance, then of the mean
  int causes_left_out = 0;
  std::vector<Changed> changes;  // one for each graph asked for
};

struct ExplainOptions {
  std::vector<RankGroup> rank_groups = {};
  // As of ComparisonOptions.
  std::optional<int64_t> samples = {};
  uint64_t random_key = 0;
};

// `changes` are the graph as it would be under each of some changes; where the
// order of loads is another, by draws alone.
//
// What has to be computed is bounded: by the sources that are looked at
// (FindSources), and by the draws that are made. See docs/model/explain.md.
//
// Errors: those of CompareSteps.
absl::StatusOr<Explanation> Explain(const step::StepGraph& graph,
                                    const std::vector<step::StepGraph>& changes,
                                    const ExplainOptions& options,
                                    const base::Budget& budget,
                                    base::Executor& executor);

}  // namespace prism::explain

#endif  // PRISM_CORE_EXPLAIN_EXPLAIN_H_
