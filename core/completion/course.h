// Course: how long a run takes from one step to another if nothing fails.
//
// The time from being ready for step c + 1 to being ready for step k + 1,
//
//   B(c, k) = sum of steps + evaluations + blocking writes,
//
// is a sum of many draws. The law of one such sum is taken as a normal (cut at
// 0) with the exact mean and, for steps with geometric autocorrelation r,
//
//   Var = sd^2 (n (1 + r) / (1 - r) - 2 r (1 - r^n) / (1 - r)^2).
//
// How far a run gets within a time t has the law P(reached >= k) =
// P(B(c, k) <= t). So one score for a whole attempt, the same for every k,
// draws how far it gets from the right law, though not the path there.
//
// Immutable and thread-safe.
#ifndef PRISM_CORE_COMPLETION_COURSE_H_
#define PRISM_CORE_COMPLETION_COURSE_H_

#include <cstdint>

#include "core/completion/run_plan.h"

namespace prism::completion {

// Variance of the sum of `steps` steps over that of one.
double SumVarianceFactor(int64_t steps, double autocorrelation);

// What an attempt reached.
struct Reached {
  bool finished = false;
  // Steps that count after it: all, the last checkpoint's, or where it began.
  int64_t saved = 0;
  // Work time until then. For a finished run all of it; else without the
  // non-blocking part.
  double seconds = 0;
  double writing_seconds = 0;     // of `seconds`: in writes
  double slow_start_seconds = 0;  // of `seconds`: by slow first steps
};

class Course {
 public:
  // `interval_steps` is the checkpoint interval in use, 0 without one.
  Course(const RunPlan& plan, int64_t interval_steps);

  // Mean work per step, evaluations and what they slow down included.
  static double MeanStepSeconds(const RunPlan& plan);

  int64_t steps() const { return steps_; }
  int64_t interval_steps() const { return interval_; }
  double mean_step_seconds() const { return mean_step_seconds_; }
  double slow_start_seconds() const {
    return mean_ * slow_start_extra_ * static_cast<double>(slow_start_steps_);
  }

  // Seconds for an average run that fails nowhere and starts at `from`.
  double NominalSeconds(int64_t from) const;

  // What is reached from step `from` within `seconds` of work, all steps
  // taking `factor` times as long. `fresh`: right after a start. `save_all`:
  // every whole step counts in the end.
  Reached Run(int64_t from, bool fresh, double factor, double score,
              double seconds, bool save_all) const;

  // Non-blocking part of a write.
  double settling_seconds() const { return settling_; }
  double blocking_seconds() const { return blocking_; }
  int64_t slow_start_steps() const { return slow_start_steps_; }
  double slow_start_extra() const { return slow_start_extra_; }

  // Steps in (from, to] that are slow because of an evaluation.
  int64_t SlowSteps(int64_t from, int64_t to) const;
  // Writes begun in (from, to].
  int64_t Writes(int64_t from, int64_t to) const;

 private:
  struct Start {
    int64_t from;
    bool fresh;
    double factor;
    double score;
    // Up to `from`: evaluations, slow steps because of them, checkpoints.
    int64_t evaluations;
    int64_t slow_steps;
    int64_t checkpoints;
  };

  Start From(int64_t from, bool fresh, double factor, double score) const;
  int64_t Evaluations(int64_t to) const;
  int64_t SlowStepsUntil(int64_t to, int64_t evaluations) const;
  double SlowStartSeconds(const Start& start, int64_t to) const;
  double Seconds(const Start& start, int64_t to, int64_t writes) const;
  double WholeSeconds(const Start& start) const;
  // The last step in time and the time until then.
  struct Last {
    int64_t step;
    double seconds;
  };
  Last LastWithin(const Start& start, double seconds, int64_t unit) const;

  int64_t steps_;
  int64_t interval_;
  double mean_, deviation_, autocorrelation_;
  double variance_slope_, variance_edge_;
  // Steps from which the last term of the variance is constant.
  double forgotten_after_;
  int64_t evaluate_every_;
  double evaluation_mean_, evaluation_variance_;
  int64_t slow_steps_, slow_start_steps_;
  double slow_extra_, slow_start_extra_;
  double blocking_, settling_;
  double mean_step_seconds_;
};

}  // namespace prism::completion

#endif  // PRISM_CORE_COMPLETION_COURSE_H_
