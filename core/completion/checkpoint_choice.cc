#include "core/completion/checkpoint_choice.h"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "core/completion/beliefs.h"
#include "core/completion/closed_forms.h"
#include "core/completion/course.h"
#include "core/stats/distribution.h"

namespace prism::completion {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kRates = 9;
constexpr int kBits = 24;  // of the logarithm of the interval
constexpr uint64_t kMostTrials = 60;
constexpr double kHopeless = 1e300;  // finite, so that costs can be compared

// Ends of attempts per second, failures and preemptions that lose work, at
// equally likely levels of their law.
std::vector<double> EndsPerSecond(const RunPlan& plan) {
  const stats::Distribution law = FailureRate(plan.failures, plan.progress);
  const double preempted =
      plan.preemptions.saves ? 0 : plan.preemptions.per_day / kSecondsPerDay;
  if (law.IsConstant()) return {law.Mean() + preempted};
  std::vector<double> rates(kRates);
  for (int i = 0; i < kRates; ++i) {
    rates[i] = law.Quantile((i + 0.5) / kRates) + preempted;
  }
  return rates;
}

// Expected time per second of work, restarts at their mean.
double CostOf(double interval, const RunPlan& plan,
              const std::vector<double>& rates) {
  double cost = 0;
  for (double rate : rates) {
    cost += 1 / ExactRatio({rate, plan.restarts.seconds.Mean(), interval,
                            plan.checkpoints.blocking_seconds,
                            plan.checkpoints.non_blocking_seconds});
  }
  return std::min(cost, kHopeless);
}

double BestInterval(const RunPlan& plan, double shortest) {
  const std::vector<double> rates = EndsPerSecond(plan);
  const double highest = *std::max_element(rates.begin(), rates.end());
  if (highest <= 0) return kInfinity;
  const double write = plan.checkpoints.blocking_seconds;
  if (write <= 0) return shortest;
  // The best interval for a rate known is an end for one between.
  const double lowest = *std::min_element(rates.begin(), rates.end());
  const double low = ExactInterval(highest, write);
  const double high = std::min(ExactInterval(lowest, write), 1 / highest);
  if (high <= shortest) return shortest;
  if (high <= low * (1 + 1e-9)) return std::max(low, shortest);
  uint64_t trials = kMostTrials;
  const auto best = boost::math::tools::brent_find_minima(
      [&](double x) { return CostOf(std::exp(x), plan, rates); }, std::log(low),
      std::log(high), kBits, trials);
  return std::max(std::exp(best.first), shortest);
}

int64_t StepsIn(double seconds, double step_seconds, int64_t most) {
  const double steps = std::round(seconds / step_seconds);
  if (!(steps < static_cast<double>(most))) return most;
  return std::max<int64_t>(1, static_cast<int64_t>(steps));
}

}  // namespace

CheckpointChoice ChooseCheckpoints(const RunPlan& plan) {
  const Checkpoints& checkpoints = plan.checkpoints;
  const double step = Course::MeanStepSeconds(plan);
  const double settled = std::ceil(checkpoints.non_blocking_seconds / step);
  const double shortest = step * std::max(1.0, settled);
  CheckpointChoice choice;
  choice.best_seconds = BestInterval(plan, shortest);
  choice.first_order_seconds =
      FirstOrderInterval(FailureRate(plan.failures, plan.progress).Mean(),
                         checkpoints.blocking_seconds);
  double wanted = kInfinity;
  using Choice = Checkpoints::Choice;
  if (checkpoints.choice == Choice::kSteps) {
    wanted = static_cast<double>(checkpoints.interval_steps) * step;
  } else if (checkpoints.choice == Choice::kSeconds) {
    wanted = checkpoints.interval_seconds;
  } else if (checkpoints.choice == Choice::kBest) {
    wanted = choice.best_seconds;
  }
  wanted = std::max(wanted, shortest);
  choice.steps = std::isinf(wanted) ? 0 : StepsIn(wanted, step, plan.steps);
  choice.seconds =
      choice.steps > 0 ? static_cast<double>(choice.steps) * step : kInfinity;
  return choice;
}

}  // namespace prism::completion
