// Beliefs: what is thought of a run's failure rate and speed, sharpened by
// what was seen of it. Pure functions; formulas in docs/model/completion.md.
#ifndef PRISM_CORE_COMPLETION_BELIEFS_H_
#define PRISM_CORE_COMPLETION_BELIEFS_H_

#include <span>

#include "core/completion/run_plan.h"
#include "core/stats/distribution.h"

namespace prism::completion {

// Failures per second of all nodes together: a gamma with the mean and the
// variance of the sum over nodes, updated by failures seen.
stats::Distribution FailureRate(const Failures& failures,
                                const Progress& progress);

// Coefficient of variation of nodes' rates from failures counted on each over
// the same time: sqrt((variance - mean) / mean^2), the Poisson part taken off.
// 0 where they scatter no more than that. Requires: not empty.
double RateCvFromCounts(std::span<const double> failures_by_node);

// Logarithms of both step factors of a run that was timed: normal, of mean
// -s^2/2 before. Seen is their sum, with an error.
class StepFactors {
 public:
  StepFactors(const StepTimes& step, const Progress& progress);

  // Draws of a job's factor and of that of the present start, from three
  // independent scores: drawn as if nothing were seen, the third for the
  // timing's error, then moved by what the seen sum says (Matheron's rule), so
  // that equal scores stay comparable.
  struct Logs {
    double job;
    double present;
  };
  Logs Draw(double job_score, double present_score, double timing_score) const;

  // The factor of a later start is lognormal with these parameters.
  double log_mean() const { return -run_deviation_ * run_deviation_ / 2; }
  double log_deviation() const { return run_deviation_; }

  bool constant() const { return job_deviation_ + run_deviation_ == 0; }

 private:
  double job_deviation_, run_deviation_;
  double timing_deviation_ = 0;
  double seen_ = 0;  // logarithm of timed over stated mean
  double job_gain_ = 0, run_gain_ = 0;
};

}  // namespace prism::completion

#endif  // PRISM_CORE_COMPLETION_BELIEFS_H_
