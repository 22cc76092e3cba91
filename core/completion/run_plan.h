// RunPlan: everything about one run that decides when it finishes.
//
// Plain values with the units in their names. Ranges are the caller's promise
// (query checks documents); within them every computation ends and no answer
// is NaN. docs/model/completion.md says what each means for the run.
#ifndef PRISM_CORE_COMPLETION_RUN_PLAN_H_
#define PRISM_CORE_COMPLETION_RUN_PLAN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/stats/distribution.h"

namespace prism::completion {

struct StepTimes {
  double mean_seconds = 1;                // above 0
  double standard_deviation_seconds = 0;  // at least 0
  // The shape, which matters to runs of few steps only: quantiles at ascending
  // levels within (0, 1), ascending themselves. None: a normal.
  std::vector<double> levels = {};
  std::vector<double> quantile_seconds = {};
  // Correlation of neighbouring steps in [-0.9, 0.99]; falls geometrically
  // with the distance.
  double autocorrelation = 0;
  // Relative deviation of a factor with mean 1 on all steps between two
  // starts, drawn anew at each start; 0 to 0.5.
  double run_factor_deviation = 0;
  // Same of a factor that stays through all restarts: how far the stated mean
  // may be off for this job as a whole; 0 to 0.5.
  double job_factor_deviation = 0;
};

// The first `steps` steps after an event take `factor` times as long.
struct Slowdown {
  int64_t steps = 0;  // at least 0
  double factor = 1;  // at least 1
};

struct Evaluations {
  int64_t every_steps = 0;  // after each multiple of it; 0: never
  stats::Distribution seconds = {};
  Slowdown after = {};  // of fewer steps than every_steps
};

struct Checkpoints {
  enum class Choice {
    kNone,     // a failure loses everything
    kSteps,    // after each multiple of interval_steps
    kSeconds,  // as many steps as come nearest to interval_seconds
    kBest      // at the best interval of this plan
  };
  Choice choice = Choice::kBest;
  int64_t interval_steps = 0;   // at least 1 for kSteps
  double interval_seconds = 0;  // above 0 for kSeconds
  // Steps wait for the first part of a write and not for the second. A
  // checkpoint counts when both have ended.
  double blocking_seconds = 0;      // at least 0
  double non_blocking_seconds = 0;  // at least 0
};

// Lognormal with a median of 0.78 and a mean of 5.3 days, as observed on 400
// nodes over 348 days (stepfun-ai/InfiniteHBD-Trace).
stats::Distribution ObservedRepairTime();

// Coefficient of variation of failure rates between those nodes; they fail
// 0.0043 times a day.
inline constexpr double kObservedNodeRateCv = 1.09;

struct Failures {
  int64_t nodes = 1;        // at least 1
  double per_node_day = 0;  // at least 0; mean over nodes
  std::vector<double> of_node =
      {};  // per day, one a node; replaces the two above
  // Coefficients of variation, 0 to 10: of the rates between nodes (gamma;
  // with of_node: of what is unknown of each), and of the level of all of
  // them.
  double node_rate_cv = 0;
  double level_cv = 0;
  // Share of failures that take their node out; a restart cures the rest.
  double node_loss_share = 0;
};

struct Restarts {
  // From the failure to the first step, without waiting for nodes.
  stats::Distribution seconds = {};
  Slowdown after = {};
};

struct Replacements {
  int64_t spares = 0;  // free now; at least 0
  stats::Distribution repair_seconds = ObservedRepairTime();
  // Without a free spare: until a node comes from the queue. None: only
  // repairs bring nodes back.
  std::optional<stats::Distribution> queue_seconds = {};
};

struct Preemptions {
  double per_day = 0;  // while the run is up; at least 0
  stats::Distribution away_seconds = {};
  // Whether every whole step is saved on the way out.
  bool saves = false;
};

// How far the run has come.
struct Progress {
  // Up now, so that the next step needs no start before it.
  bool running = false;
  int64_t steps_done = 0;
  // In the last checkpoint that counts; at most steps_done. Not set: the last
  // multiple of the checkpoint interval.
  std::optional<int64_t> steps_saved = {};
  // Steps since the last start that were timed, without slow first ones, and
  // their mean. They sharpen both step factors. 0: none.
  int64_t timed_steps = 0;
  double timed_mean_seconds = 0;  // above 0 where steps were timed
  // Failures of this run's nodes within so many days: they sharpen the rate.
  int64_t failures = 0;
  double observed_days = 0;
};

struct RunPlan {
  int64_t steps = 1;  // of the whole job; at least 1, at most 10^12
  StepTimes step;
  Evaluations evaluations;
  Checkpoints checkpoints;
  Failures failures;
  Restarts restarts;
  Replacements replacements;
  Preemptions preemptions;
  Progress progress;
  // Seconds from now, each at least 0.
  std::vector<double> deadlines_seconds = {};
};

}  // namespace prism::completion

#endif  // PRISM_CORE_COMPLETION_RUN_PLAN_H_
