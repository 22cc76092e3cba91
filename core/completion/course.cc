#include "core/completion/course.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace prism::completion {
namespace {

// Below e to the power of minus this nothing is left in a double.
constexpr double kForgotten = 40;

double Extra(const Slowdown& slowdown) { return slowdown.factor - 1; }

}  // namespace

double SumVarianceFactor(int64_t steps, double autocorrelation) {
  const double n = static_cast<double>(steps), r = autocorrelation;
  const double rest = 1 - r;
  return n * (1 + r) / rest - 2 * r * (1 - std::pow(r, n)) / (rest * rest);
}

double Course::MeanStepSeconds(const RunPlan& plan) {
  const double mean = plan.step.mean_seconds;
  const auto& evaluations = plan.evaluations;
  if (evaluations.every_steps == 0) return mean;
  const double slow = static_cast<double>(evaluations.after.steps) *
                      Extra(evaluations.after) * mean;
  return mean + (evaluations.seconds.Mean() + slow) /
                    static_cast<double>(evaluations.every_steps);
}

Course::Course(const RunPlan& plan, int64_t interval_steps)
    : steps_(plan.steps),
      interval_(interval_steps),
      mean_(plan.step.mean_seconds),
      deviation_(plan.step.standard_deviation_seconds),
      autocorrelation_(plan.step.autocorrelation),
      variance_slope_((1 + autocorrelation_) / (1 - autocorrelation_)),
      variance_edge_(2 * autocorrelation_ /
                     ((1 - autocorrelation_) * (1 - autocorrelation_))),
      forgotten_after_(autocorrelation_ == 0
                           ? 0
                           : -kForgotten /
                                 std::log(std::abs(autocorrelation_))),
      evaluate_every_(plan.evaluations.every_steps),
      evaluation_mean_(plan.evaluations.seconds.Mean()),
      evaluation_variance_(plan.evaluations.seconds.Variance()),
      slow_steps_(plan.evaluations.after.steps),
      slow_start_steps_(plan.restarts.after.steps),
      slow_extra_(Extra(plan.evaluations.after)),
      slow_start_extra_(Extra(plan.restarts.after)),
      blocking_(plan.checkpoints.blocking_seconds),
      settling_(plan.checkpoints.non_blocking_seconds),
      mean_step_seconds_(MeanStepSeconds(plan)) {}

int64_t Course::Evaluations(int64_t to) const {
  return evaluate_every_ > 0 ? to / evaluate_every_ : 0;
}

int64_t Course::SlowStepsUntil(int64_t to, int64_t evaluations) const {
  if (evaluate_every_ == 0) return 0;
  return evaluations * slow_steps_ +
         std::min(to - evaluations * evaluate_every_, slow_steps_) -
         std::min(to, slow_steps_);  // no evaluation before the first step
}

int64_t Course::SlowSteps(int64_t from, int64_t to) const {
  return SlowStepsUntil(to, Evaluations(to)) -
         SlowStepsUntil(from, Evaluations(from));
}

Course::Start Course::From(int64_t from, bool fresh, double factor,
                           double score) const {
  const int64_t evaluations = Evaluations(from);
  return {from,
          fresh,
          factor,
          score,
          evaluations,
          SlowStepsUntil(from, evaluations),
          interval_ > 0 ? from / interval_ : 0};
}

// The result is written as well, on the grid or not.
int64_t Course::Writes(int64_t from, int64_t to) const {
  const int64_t last = to == steps_ ? 1 : 0;
  if (interval_ == 0) return last;
  const int64_t end = to == steps_ ? to - 1 : to;
  return end / interval_ - from / interval_ + last;
}

double Course::SlowStartSeconds(const Start& start, int64_t to) const {
  if (!start.fresh) return 0;
  const int64_t slow = std::min(to - start.from, slow_start_steps_);
  return start.factor * mean_ * slow_start_extra_ * static_cast<double>(slow);
}

// For `writes` writes on the way.
double Course::Seconds(const Start& start, int64_t to, int64_t writes) const {
  const int64_t n = to - start.from;
  if (n <= 0) return 0;
  const int64_t evaluated = Evaluations(to);
  const double slow =
      static_cast<double>(SlowStepsUntil(to, evaluated) - start.slow_steps);
  const double evaluations = static_cast<double>(evaluated - start.evaluations);
  const double steps = static_cast<double>(n);
  const double mean = start.factor * mean_ * (steps + slow_extra_ * slow) +
                      SlowStartSeconds(start, to) +
                      evaluations * evaluation_mean_ +
                      static_cast<double>(writes) * blocking_;
  const double decay =
      steps < forgotten_after_ ? std::pow(autocorrelation_, steps) : 0;
  const double spread = start.factor * deviation_;
  const double variance =
      evaluations * evaluation_variance_ +
      spread * spread *
          (steps * variance_slope_ - variance_edge_ * (1 - decay));
  return std::max(0.0, mean + start.score * std::sqrt(variance));
}

double Course::WholeSeconds(const Start& start) const {
  return Seconds(start, steps_, Writes(start.from, steps_)) + settling_;
}

double Course::NominalSeconds(int64_t from) const {
  return from >= steps_ ? 0 : WholeSeconds(From(from, true, 1, 0));
}

// The last multiple of `unit` within (from, steps) that is reached in time,
// or `from`: a guess from the mean, widened until it brackets, then halved.
Course::Last Course::LastWithin(const Start& start, double seconds,
                                int64_t unit) const {
  Last best = {start.from, 0};
  auto in_time = [&](int64_t multiple) {
    const int64_t to = multiple * unit;
    const int64_t writes = unit == interval_ ? multiple - start.checkpoints
                                             : Writes(start.from, to);
    const double needed = Seconds(start, to, writes);
    if (needed <= seconds) best = {to, needed};
    return needed <= seconds;
  };
  const int64_t before = start.from / unit, last = (steps_ - 1) / unit;
  const double per_unit =
      start.factor * static_cast<double>(unit) * mean_step_seconds_ +
      (unit == interval_ ? blocking_ : 0);
  const double guess =
      static_cast<double>(start.from) / static_cast<double>(unit) +
      seconds / per_unit;
  int64_t low = static_cast<int64_t>(std::clamp(
      guess, static_cast<double>(before), static_cast<double>(last)));
  int64_t high = low + 1;
  for (int64_t width = 1; low > before && !in_time(low); width *= 2) {
    high = low;
    low = std::max(before, low - width);
  }
  for (int64_t width = 1; high <= last && in_time(high); width *= 2) {
    low = high;
    high = std::min(last + 1, high + width);
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (in_time(middle) ? low : high) = middle;
  }
  return low > before ? best : Last{start.from, 0};
}

Reached Course::Run(int64_t from, bool fresh, double factor, double score,
                    double seconds, bool save_all) const {
  const Start start = From(from, fresh, factor, score);
  Reached reached = {.saved = from};
  const int64_t unit = save_all ? 1 : interval_;
  if (unit > 0) {
    const Last checkpoint =
        LastWithin(start, seconds - (save_all ? 0 : settling_), unit);
    reached.saved = checkpoint.step;
    reached.seconds = checkpoint.seconds;
  }
  // The end comes after the last multiple.
  const int64_t last = unit > 0 ? (steps_ - 1) / unit * unit : 0;
  if (reached.saved >= last) {
    const double whole = WholeSeconds(start);
    reached.finished = whole <= seconds;
    if (reached.finished) reached.seconds = whole;
  }
  if (reached.finished) {
    reached.saved = steps_;
    reached.writing_seconds = settling_;
  } else if (reached.saved == from) {
    return reached;
  }
  const int64_t writes = Writes(from, reached.saved);
  reached.writing_seconds += static_cast<double>(writes) * blocking_;
  reached.slow_start_seconds = SlowStartSeconds(start, reached.saved);
  return reached;
}

}  // namespace prism::completion
