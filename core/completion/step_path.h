// StepPath: runs of few steps, step by step.
//
// A sum of few draws is no normal. Here each step is drawn: its normal score
// follows an autoregression and the stated quantiles turn the score into a
// time of the stated mean and deviation. The autoregression's coefficient is
// the one that gives the *times* the stated correlation of neighbours.
#ifndef PRISM_CORE_COMPLETION_STEP_PATH_H_
#define PRISM_CORE_COMPLETION_STEP_PATH_H_

#include <cstdint>
#include <vector>

#include "core/completion/course.h"
#include "core/completion/run_plan.h"
#include "core/stats/sampler.h"

namespace prism::completion {

// The time of a step as a function of a normal score: linear between the
// stated quantiles and on beyond them. Where the stated deviation is more than
// they show, rare steps beyond the last of them are longer; where it is less,
// all are drawn together. Moved to the stated mean. Immutable and thread-safe.
class StepCurve {
 public:
  explicit StepCurve(const StepTimes& step);

  // At least 0.
  double operator()(double score) const;

  // Correlation of neighbouring scores for the stated one of times.
  double ScoreCorrelation() const;

 private:
  // How far `score` is beyond the last quantile.
  double Beyond(double score) const;
  double Raw(double score) const;
  void SpreadTo(double deviation, bool has_quantiles);

  std::vector<double> scores_, seconds_;
  double mean_ = 0, slope_ = 1;
  double beyond_ = 0;  // what a score beyond the last quantile adds to it
  double target_ = 0;  // stated correlation
};

// Where the draws of an attempt are.
struct AttemptAddress {
  uint64_t key = 0;
  uint32_t operation = 0;
  uint32_t attempt = 0;
  uint64_t pair = 0;
  bool mirrored = false;  // all uniforms u as 1 - u
};

// Immutable and thread-safe; scratch belongs to the caller.
class StepPath {
 public:
  struct Scratch {
    std::vector<uint64_t> step, pair;
    std::vector<double> score, uniform, evaluation;
    stats::Sampler::Scratch draw;
  };

  // `course` must outlive the path.
  StepPath(const RunPlan& plan, const Course& course);

  // As Course::Run, with a path of its own instead of one score.
  Reached Run(const AttemptAddress& address, int64_t from, bool fresh,
              double factor, double seconds, bool save_all,
              Scratch& scratch) const;

 private:
  void Draw(const AttemptAddress& address, int64_t first,
            Scratch& scratch) const;

  const Course& course_;
  StepCurve curve_;
  double correlation_;
  int64_t evaluate_every_;
  double slow_extra_;
  stats::Sampler evaluation_;
};

}  // namespace prism::completion

#endif  // PRISM_CORE_COMPLETION_STEP_PATH_H_
