// Steps compared: several graphs simulated on the same draws.
//
// Where they are alike they then differ by nothing, so that what is left of
// their difference is small and its error smaller still. Errors come from the
// scatter of the differences over batches, whichever the method.
#ifndef PRISM_CORE_EXPLAIN_COMPARED_STEPS_H_
#define PRISM_CORE_EXPLAIN_COMPARED_STEPS_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/step/step_graph.h"
#include "core/step/step_time.h"

namespace prism::explain {

struct ComparisonOptions {
  // Steps of each graph, draw by draw. Unset: as many as are affordable or, if
  // those are few and the graphs' structure allows, by structure.
  std::optional<int64_t> samples = {};
  // Which way to go where `samples` does not say: the cheaper one, or one
  // alone.
  enum class Way { kCheaper, kDraws, kStructure };
  Way way = Way::kCheaper;
  uint64_t random_key = 0;
};

struct StepSummary {
  double mean_seconds = 0;
  double variance = 0;
  double p50_seconds = 0;
  double p95_seconds = 0;
};

struct ComparedStep {
  step::StepTime time;
  StepSummary summary;
  // The same of batches that share nothing: of one number for all graphs.
  std::vector<StepSummary> batches;
};

struct ComparedSteps {
  std::vector<ComparedStep> steps;  // by graph
  step::Method method = step::Method::kMonteCarlo;
  step::Quality quality = step::Quality::kExact;
  int64_t samples = 0;  // of each graph
};

// Simulates `graphs`; the first is the one that the others are compared to.
//
// The result depends on the graphs, the options and the instruction set alone;
// with a budget that runs out also on time, and then the quality is kReduced.
//
// Errors: INVALID_ARGUMENT where an order deadlocks; CANCELLED;
// DEADLINE_EXCEEDED where the budget ended before there was anything to
// compare; RESOURCE_EXHAUSTED where one step needs more memory than 4 GiB;
// INTERNAL where a result is not finite.
absl::StatusOr<ComparedSteps> CompareSteps(
    const std::vector<step::StepGraph>& graphs,
    const ComparisonOptions& options, const base::Budget& budget,
    base::Executor& executor);

// What a step has more than another, as a number, and how sure that is.
struct Difference {
  double value = 0;
  double standard_error = 0;
};

Difference MeanDifference(const ComparedStep& step, const ComparedStep& base);
Difference P50Difference(const ComparedStep& step, const ComparedStep& base);
Difference P95Difference(const ComparedStep& step, const ComparedStep& base);

// 1 less the step's variance over that of `base`; 0 where that has none.
Difference VarianceShare(const ComparedStep& step, const ComparedStep& base);

}  // namespace prism::explain

#endif  // PRISM_CORE_EXPLAIN_COMPARED_STEPS_H_
