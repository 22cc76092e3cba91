// Attempts: simulated runs, from start to failure to start.
//
// A run is a chain of attempts. An attempt starts from the last checkpoint
// that counts, and ends with the job, a failure or a preemption, whichever is
// first; failures are exponential, so the next attempt knows nothing of it but
// what was saved and which nodes are in repair. Nothing is done by the step:
// Course says how far an attempt gets (StepPath for short runs).
//
// Draws are keyed by (key, what is drawn, attempt, pair), and uniforms go
// through quantile functions: plans that differ in one thing share all draws
// that it leaves alone (docs/decisions/0003). Samples come in pairs, the
// second with every uniform u as 1 - u.
#ifndef PRISM_CORE_COMPLETION_ATTEMPTS_H_
#define PRISM_CORE_COMPLETION_ATTEMPTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/budget.h"
#include "core/completion/beliefs.h"
#include "core/completion/course.h"
#include "core/completion/run_plan.h"
#include "core/completion/step_path.h"
#include "core/stats/sampler.h"

namespace prism::completion {

// What became of one simulated run; seconds from now.
struct Outcome {
  double finish_seconds = 0;  // infinite where the run did not end in bounds
  double clock_seconds = 0;   // when it ended or was given up
  double productive_seconds = 0;
  double writing_seconds = 0;
  double restart_seconds = 0;
  double lost_seconds = 0;
  double waiting_seconds = 0;  // for nodes
  double away_seconds = 0;     // preempted
  int64_t failures = 0;
  int64_t preemptions = 0;
};

// Uniforms that a pair of runs starts from, to be spread evenly over pairs:
// they place what moves the end most.
struct PairStart {
  uint64_t pair = 0;
  double rate_uniform = 0.5;
  double factor_uniform = 0.5;
  double failures_uniform = 0.5;  // sum of the first times to failure
};

// A plan made ready. Immutable and thread-safe.
class AttemptModel {
 public:
  // An attempt chain longer than this, or one that is up for longer than
  // kMostTimes the time without failures, counts as never ending.
  static constexpr int64_t kMostAttempts = 100'000;
  static constexpr double kMostTimes = 50;

  // `plan` must outlive the model. `interval_steps` as for Course.
  AttemptModel(const RunPlan& plan, int64_t interval_steps, uint64_t key);

  // Both runs of each pair, one after the other. False where the budget ended
  // it; `outcomes` is then without meaning.
  bool Simulate(const std::vector<PairStart>& pairs, const base::Budget& budget,
                std::vector<Outcome>& outcomes) const;

  const Course& course() const { return course_; }

 private:
  friend class AttemptBlock;

  const RunPlan& plan_;
  const uint64_t key_;
  const Course course_;
  std::optional<StepPath> path_;  // where few steps are left
  const StepFactors factors_;
  const stats::Sampler rate_;
  const stats::Sampler restart_, repair_, away_;
  std::optional<stats::Sampler> queue_;
  const double preemptions_per_second_;
  // Sum of the first so many unit exponentials: about the failures expected.
  int64_t summed_failures_ = 0;
  std::optional<stats::Sampler> failure_sum_;
  int64_t saved_;
  double most_up_seconds_;
};

}  // namespace prism::completion

#endif  // PRISM_CORE_COMPLETION_ATTEMPTS_H_
