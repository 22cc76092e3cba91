#include "core/completion/reference_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace prism::completion {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kDay = 86400;

double Normal(std::mt19937_64& random) {
  return std::normal_distribution<double>()(random);
}

double Uniform(std::mt19937_64& random) {
  return std::uniform_real_distribution<double>(1e-15, 1 - 1e-15)(random);
}

double Draw(const stats::Distribution& law, std::mt19937_64& random) {
  return law.IsConstant() ? law.Mean() : law.Quantile(Uniform(random));
}

double GammaDraw(double cv, std::mt19937_64& random) {
  if (cv == 0) return 1;
  return std::gamma_distribution<double>(1 / (cv * cv), cv * cv)(random);
}

double FactorDraw(double deviation, std::mt19937_64& random) {
  const double s = std::sqrt(std::log1p(deviation * deviation));
  return std::exp(s * Normal(random) - s * s / 2);
}

double ExponentialDraw(double rate, std::mt19937_64& random) {
  return rate > 0 ? std::exponential_distribution<double>(rate)(random)
                  : kNever;
}

// Steps with normal times whose neighbours are correlated.
class StepStream {
 public:
  StepStream(const StepTimes& step, std::mt19937_64& random)
      : step_(step), random_(random), score_(Normal(random)) {}

  double Next() {
    const double seconds =
        step_.mean_seconds + step_.standard_deviation_seconds * score_;
    const double r = step_.autocorrelation;
    score_ = r * score_ + std::sqrt(1 - r * r) * Normal(random_);
    return std::max(0.0, seconds);
  }

 private:
  const StepTimes& step_;
  std::mt19937_64& random_;
  double score_;
};

class Run {
 public:
  Run(const RunPlan& plan, const Truth& truth, int64_t interval,
      std::mt19937_64& random)
      : plan_(plan),
        truth_(truth),
        interval_(interval),
        random_(random),
        saved_(plan.progress.steps_saved.value_or(
            interval > 0 ? plan.progress.steps_done / interval * interval : 0)),
        spares_(plan.replacements.spares) {}

  ReferenceOutcome Go() {
    bool up = plan_.progress.running;
    int64_t at = plan_.progress.steps_done;
    double factor = truth_.present_factor;
    const double average = AverageStep();
    while (true) {
      const int64_t saved_before = saved_;
      if (Attempt(at, !up, truth_.job_factor * factor)) return out_;
      if (saved_ == saved_before && at > saved_) {
        out_.lost_seconds += static_cast<double>(at - saved_) * average *
                             truth_.job_factor * factor;
      }
      at = saved_;
      up = false;
      factor = FactorDraw(plan_.step.run_factor_deviation, random_);
    }
  }

 private:
  // Of an attempt: steps done, time since it began and what it went into.
  struct State {
    int64_t step;
    double at;
    double written;
    double slow_starts;
  };

  double AverageStep() const {
    const auto& e = plan_.evaluations;
    if (e.every_steps == 0) return plan_.step.mean_seconds;
    return plan_.step.mean_seconds +
           (e.seconds.Mean() + static_cast<double>(e.after.steps) *
                                   (e.after.factor - 1) *
                                   plan_.step.mean_seconds) /
               static_cast<double>(e.every_steps);
  }

  // Until the end (true) or until something ends it.
  bool Attempt(int64_t from, bool fresh, double factor) {
    const double dies_at = DiesAt();
    double now = fresh ? Draw(plan_.restarts.seconds, random_) : 0;
    if (dies_at < now) {
      out_.restart_seconds += dies_at;
      return Die(dies_at);
    }
    out_.restart_seconds += now;
    State state = {from, now, 0, 0};
    kept_ = state;
    StepStream steps(plan_.step, random_);
    const double settling = plan_.checkpoints.non_blocking_seconds;
    std::vector<State> under_way;  // writes whose blocking part has ended
    for (int64_t k = from + 1; k <= plan_.steps; ++k) {
      DoStep(k, fresh && k - from <= plan_.restarts.after.steps,
             factor * steps.Next(), state);
      if (state.at > dies_at) break;
      if (Writes(k)) under_way.push_back(state);
      const bool last = k == plan_.steps;
      if (preempted_ && plan_.preemptions.saves && !last) Keep(state);
    }
    for (const State& write : under_way) {
      if (write.at + settling <= dies_at) Keep(write);
    }
    saved_ = std::max(saved_, kept_.step);
    out_.writing_seconds += kept_.written;
    out_.restart_seconds += kept_.slow_starts;
    const bool ended = !under_way.empty() &&
                       under_way.back().step == plan_.steps &&
                       under_way.back().at + settling <= dies_at;
    if (!ended) {
      out_.lost_seconds += dies_at - kept_.at;
      return Die(dies_at);
    }
    out_.writing_seconds += settling;
    clock_ += under_way.back().at + settling;
    out_.finish_seconds = clock_;
    return true;
  }

  bool Writes(int64_t k) const {
    return k == plan_.steps || (interval_ > 0 && k % interval_ == 0);
  }

  // The whole of step k, and what comes after it.
  void DoStep(int64_t k, bool slow_start, double seconds, State& state) {
    state.step = k;
    state.at += seconds;
    if (slow_start) {
      const double slow = seconds * (plan_.restarts.after.factor - 1);
      state.at += slow;
      state.slow_starts += slow;
    }
    const Evaluations& e = plan_.evaluations;
    if (e.every_steps > 0 && k > e.every_steps &&
        (k - 1) % e.every_steps < e.after.steps) {
      state.at += seconds * (e.after.factor - 1);
    }
    if (e.every_steps > 0 && k % e.every_steps == 0) {
      state.at += Draw(e.seconds, random_);
    }
    if (Writes(k)) {
      state.at += plan_.checkpoints.blocking_seconds;
      state.written += plan_.checkpoints.blocking_seconds;
    }
  }

  void Keep(const State& state) {
    if (state.step > kept_.step) kept_ = state;
  }

  // Each node has a clock of its own.
  double DiesAt() {
    double first = kNever;
    for (double rate : truth_.node_rates) {
      first = std::min(first, ExponentialDraw(rate, random_));
    }
    const double preemption =
        ExponentialDraw(plan_.preemptions.per_day / kDay, random_);
    preempted_ = preemption < first;
    return std::min(first, preemption);
  }

  bool Die(double up) {
    clock_ += up;
    if (preempted_) {
      clock_ += Draw(plan_.preemptions.away_seconds, random_);
      return false;
    }
    ++out_.failures;
    if (Uniform(random_) < plan_.failures.node_loss_share) ReplaceNode();
    return false;
  }

  void ReplaceNode() {
    while (!repairs_.empty() && *repairs_.begin() <= clock_) {
      repairs_.erase(repairs_.begin());
      ++spares_;
    }
    const double repaired =
        clock_ + Draw(plan_.replacements.repair_seconds, random_);
    if (spares_ > 0) {
      --spares_;
      repairs_.insert(repaired);
      return;
    }
    repairs_.insert(repaired);
    double until = *repairs_.begin();
    if (plan_.replacements.queue_seconds.has_value()) {
      const double queued =
          clock_ + Draw(*plan_.replacements.queue_seconds, random_);
      if (queued < until) {
        repairs_.erase(repairs_.find(repaired));
        out_.waiting_seconds += queued - clock_;
        clock_ = queued;
        return;
      }
    }
    repairs_.erase(repairs_.begin());
    out_.waiting_seconds += until - clock_;
    clock_ = until;
  }

  const RunPlan& plan_;
  const Truth& truth_;
  const int64_t interval_;
  std::mt19937_64& random_;
  int64_t saved_;
  int64_t spares_;
  std::multiset<double> repairs_;
  double clock_ = 0;
  bool preempted_ = false;
  State kept_ = {};
  ReferenceOutcome out_;
};

}  // namespace

Truth DrawTruth(const RunPlan& plan, std::mt19937_64& random) {
  Truth truth;
  truth.job_factor = FactorDraw(plan.step.job_factor_deviation, random);
  truth.present_factor = FactorDraw(plan.step.run_factor_deviation, random);
  const Failures& failures = plan.failures;
  const double level = GammaDraw(failures.level_cv, random) / kDay;
  const auto& of_node = failures.of_node;
  const int64_t nodes =
      of_node.empty() ? failures.nodes : static_cast<int64_t>(of_node.size());
  for (int64_t i = 0; i < nodes; ++i) {
    const double mean = of_node.empty() ? failures.per_node_day : of_node[i];
    truth.node_rates.push_back(level * mean *
                               GammaDraw(failures.node_rate_cv, random));
  }
  return truth;
}

ReferenceOutcome SimulateReference(const RunPlan& plan, const Truth& truth,
                                   int64_t interval_steps,
                                   std::mt19937_64& random) {
  return Run(plan, truth, interval_steps, random).Go();
}

double TimeSteps(const RunPlan& plan, double factor, int64_t steps,
                 std::mt19937_64& random) {
  StepStream stream(plan.step, random);
  double sum = 0;
  for (int64_t i = 0; i < steps; ++i) sum += stream.Next();
  return factor * sum / static_cast<double>(steps);
}

}  // namespace prism::completion
