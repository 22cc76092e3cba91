// Projection: when a run finishes, and what becomes of its time.
//
// Project simulates the rest of a run many times over, attempt by attempt
// (attempts.h), until the median is known to 0.1% and each probability to half
// a percentage point, the stated number of samples is done, or the budget
// ends. Deterministic: equal plan, key and number of samples give equal
// answers on any number of threads. Thread-safe: no state.
#ifndef PRISM_CORE_COMPLETION_PROJECTION_H_
#define PRISM_CORE_COMPLETION_PROJECTION_H_

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/budget.h"
#include "core/base/parallel.h"
#include "core/completion/checkpoint_choice.h"
#include "core/completion/run_plan.h"

namespace prism::completion {

struct ProjectionOptions {
  // Rounded up to a multiple of 32, at most 100,000. Not set: as many as
  // the errors call for.
  std::optional<int64_t> samples = {};
  // Of the streams; the same for plans to be compared.
  uint64_t random_key = 0;
  // How long to look for more precision when samples are not set.
  absl::Duration patience = absl::Seconds(10);
};

enum class Quality {
  kFull,    // all samples that were asked for or needed
  kReduced  // the budget ended before that
};

// A mean over runs with its standard error.
struct Estimate {
  double value = 0;
  double standard_error = 0;
};

struct Projection {
  static constexpr int kLevels = 99;  // 1% to 99%

  // Seconds from now to the end of the job. A run that does not end in bounds
  // (AttemptModel) counts as infinite: so may the mean and quantiles be.
  Estimate finish_seconds;
  double finish_deviation_seconds = 0;
  // Element i at (i + 1)%.
  std::array<double, kLevels> quantile_seconds = {};
  std::array<double, kLevels> quantile_error_seconds = {};
  double unfinished_share = 0;  // of runs

  // One for each of the plan's deadlines.
  std::vector<Estimate> by_deadline;

  // Work and evaluations, each once, over all time from now; in [0, 1].
  Estimate effective_ratio;
  Estimate failures;
  double failures_deviation = 0;
  Estimate preemptions;
  // Where time goes; with productive_seconds their sum is the time of a run.
  Estimate productive_seconds;
  Estimate lost_seconds;     // done, not saved, done again
  Estimate writing_seconds;  // steps wait for a checkpoint that counts
  Estimate restart_seconds;  // slow first steps included
  Estimate waiting_seconds;  // for a node
  Estimate away_seconds;     // preempted

  CheckpointChoice checkpoints;

  int64_t samples = 0;
  Quality quality = Quality::kFull;
};

// kCancelled once the budget says so; kDeadlineExceeded where it ends before
// 128 samples. Polls the budget every few hundred attempts.
absl::StatusOr<Projection> Project(const RunPlan& plan,
                                   const ProjectionOptions& options,
                                   const base::Budget& budget,
                                   base::Executor& executor);

}  // namespace prism::completion

#endif  // PRISM_CORE_COMPLETION_PROJECTION_H_
