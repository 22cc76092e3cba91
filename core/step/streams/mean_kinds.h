// What the time of simulated steps goes to, by kind, on average.
#ifndef PRISM_CORE_STEP_STREAMS_MEAN_KINDS_H_
#define PRISM_CORE_STEP_STREAMS_MEAN_KINDS_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/step/simulate.h"
#include "core/step/step_graph.h"

namespace prism::step {

// More steps than this are not looked at: the mean of a kind that varies by 10%
// from step to step has an error of 0.6% then.
inline constexpr int64_t kMostKindSamples = 256;

// Means over the first `samples`, at least 1 and at most kMostKindSamples of
// them, of the steps that Simulate() draws by Monte Carlo with `random_key`.
// `by_kind` sums to the mean of these steps. Independent of the executor's
// threads.
//
// Nothing where no communication runs beside computation, or where the budget
// ends before the last step.
//
// Errors: INVALID_ARGUMENT as of Simulate.
absl::StatusOr<std::optional<KindTimes>> SimulateMeanKinds(
    const StepGraph& graph, uint64_t random_key, int64_t samples,
    const base::Budget& budget, base::Executor& executor);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_STREAMS_MEAN_KINDS_H_
