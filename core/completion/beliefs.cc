#include "core/completion/beliefs.h"

#include <algorithm>
#include <cmath>

#include "core/completion/closed_forms.h"
#include "core/completion/course.h"
#include "core/stats/sample_quantiles.h"

namespace prism::completion {
namespace {

struct RateSums {
  double per_day = 0;
  double squares = 0;
};

RateSums SumRates(const Failures& failures) {
  const double nodes = static_cast<double>(failures.nodes);
  const double rate = failures.per_node_day;
  if (failures.of_node.empty()) return {nodes * rate, nodes * rate * rate};
  RateSums sums;
  for (double of_node : failures.of_node) {
    sums.per_day += of_node;
    sums.squares += of_node * of_node;
  }
  return sums;
}

// Of a lognormal with mean 1.
double LogDeviation(double relative) {
  return std::sqrt(std::log1p(relative * relative));
}

double Square(double x) { return x * x; }

}  // namespace

stats::Distribution ObservedRepairTime() {
  constexpr double kMedianDays = 0.78, kMeanDays = 5.3;
  // mean / median = e^(s^2 / 2) and cv^2 = e^(s^2) - 1.
  const double cv = std::sqrt(Square(kMeanDays / kMedianDays) - 1);
  return stats::Distribution::MakeLognormal(kMeanDays * kSecondsPerDay, cv);
}

stats::Distribution FailureRate(const Failures& failures,
                                const Progress& progress) {
  const RateSums sums = SumRates(failures);
  const double mean = sums.per_day / kSecondsPerDay;
  if (sums.per_day <= 0) return stats::Distribution::MakeConstant(0);
  const double level = Square(failures.level_cv);
  const double nodes =
      Square(failures.node_rate_cv) * sums.squares / Square(sums.per_day);
  const double variance = level + nodes + level * nodes;
  if (variance <= 0) return stats::Distribution::MakeConstant(mean);
  const double shape = 1 / variance + static_cast<double>(progress.failures);
  const double seconds =
      1 / (variance * mean) + progress.observed_days * kSecondsPerDay;
  return stats::Distribution::MakeGamma(shape / seconds, 1 / std::sqrt(shape));
}

double RateCvFromCounts(std::span<const double> failures_by_node) {
  const stats::Moments counts = stats::SampleMoments(failures_by_node);
  const double beyond = Square(counts.standard_deviation) - counts.mean;
  return beyond > 0 ? std::sqrt(beyond) / counts.mean : 0;
}

StepFactors::StepFactors(const StepTimes& step, const Progress& progress)
    : job_deviation_(LogDeviation(step.job_factor_deviation)),
      run_deviation_(LogDeviation(step.run_factor_deviation)) {
  const int64_t timed = progress.timed_steps;
  if (timed <= 0 || constant()) return;
  const double n = static_cast<double>(timed);
  const double cv = step.standard_deviation_seconds / step.mean_seconds;
  timing_deviation_ =
      cv *
      std::sqrt(std::max(0.0, SumVarianceFactor(timed, step.autocorrelation))) /
      n;
  seen_ = std::log(progress.timed_mean_seconds / step.mean_seconds);
  const double variance = Square(job_deviation_) + Square(run_deviation_) +
                          Square(timing_deviation_);
  job_gain_ = Square(job_deviation_) / variance;
  run_gain_ = Square(run_deviation_) / variance;
}

StepFactors::Logs StepFactors::Draw(double job_score, double present_score,
                                    double timing_score) const {
  const double job =
      job_deviation_ * job_score - job_deviation_ * job_deviation_ / 2;
  const double present = run_deviation_ * present_score + log_mean();
  const double surprise =
      seen_ - (job + present + timing_deviation_ * timing_score);
  return {job + job_gain_ * surprise, present + run_gain_ * surprise};
}

}  // namespace prism::completion
