// Replay: a recorded trace run again, what its steps lose and to whom.
//
// Every step is mended where it lacks operations (mend.h), taken apart into
// work and waiting (recorded_step.h) and run three times: as recorded, with
// what is typical of all, and changed as asked. Memory holds one step and
// pools, and for accounts (attribution.h) steps of up to kMostAccounted
// operations, spread evenly over a longer trace.
#ifndef PRISM_CORE_TRACE_REPLAY_REPLAY_H_
#define PRISM_CORE_TRACE_REPLAY_REPLAY_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/trace/damage.h"
#include "core/trace/replay/attribution.h"
#include "core/trace/replay/change.h"
#include "core/trace/replay/typical.h"
#include "core/trace/trace.h"

namespace prism::trace {

struct ReplayOptions {
  // Steps with other numbers are passed over.
  int64_t first_step = 0;
  int64_t last_step = std::numeric_limits<int64_t>::max();
  std::vector<Change> changes;
};

// One step, seconds.
struct StepSeconds {
  int64_t number = 0;
  double measured = 0;   // from the first start to the last end
  double simulated = 0;  // run again: without what no operation accounts for
  double ideal = 0;
  double changed = 0;  // with the changes that were asked for
};

// How uneven micro-batches are, and what it costs.
struct UnevenSequences {
  double correlation = 0;  // of forward and backward loads
  double deviation = 0;    // of loads whose mean is 1
  double removed = 0;      // share of the excess that even ones remove
};

struct ReplayReport {
  Sizes sizes;
  int64_t steps_recorded = 0;  // before those that were left out
  int64_t operations = 0;      // of all steps that were run
  Typical typical;
  std::vector<StepSeconds> steps;
  Excess excess;  // over all steps

  // Accounts are of these steps, an index into `steps` each.
  std::vector<size_t> accounted;
  std::vector<Account> by_operation, by_stage, by_rank, by_worker;
  // The last stage, and the worst workers (WorstWorkers), as one part each.
  Account last_stage, worst_workers;
  UnevenSequences sequences;
  // What makes steps long, one sentence each, the worst first.
  std::vector<std::string> culprits;
  // What changes come to, where that is to be said.
  std::vector<std::string> suggestions;
};

inline constexpr int64_t kMostAccounted = 500'000;

// Reads `source` three times. What is wrong with steps goes to `damage`.
//
// Errors: those of `source` and of Changes::Prepare; FAILED_PRECONDITION
// where no step can be run.
absl::StatusOr<ReplayReport> Replay(StepSource& source,
                                    const ReplayOptions& options,
                                    DamageLog& damage,
                                    int64_t most_accounted = kMostAccounted);

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_REPLAY_REPLAY_H_
