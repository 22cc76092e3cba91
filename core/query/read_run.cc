#include "core/query/read_run.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/query/node.h"
#include "core/query/read_distribution.h"
#include "core/query/read_node_states.h"

namespace prism::query {
namespace {

constexpr int64_t kMostSteps = 1'000'000'000'000;
constexpr int64_t kMostNodes = 1 << 20;
constexpr double kMostFactorDeviation = 0.5;

// What is assumed where a run says nothing; sources in
// docs/model/completion.md.
constexpr double kAutocorrelation = 0.5;
constexpr double kRunFactorDeviation = 0.003;
constexpr double kRestartSeconds = 300;
constexpr double kBlockingSeconds = 30;
constexpr double kNodeLossShare = 1;

double Within(double value, double low, double high, const FieldPath& path,
              Checker& checker) {
  const bool holds = value >= low && value <= high;
  checker.Require(holds, path,
                  absl::StrCat("is ", FormatNumber(value), "; must be from ",
                               FormatNumber(low), " to ", FormatNumber(high)));
  return holds ? value : low;
}

completion::Slowdown ReadSlowdown(uint64_t steps, double factor, int64_t most,
                                  const FieldPath& path, Checker& checker) {
  completion::Slowdown slowdown;
  slowdown.steps =
      steps == 0 ? 0
                 : checker.Between(steps, 1, most, path.Field("slow_steps"));
  slowdown.factor =
      factor == 0 ? 1 : checker.AtLeast(factor, 1, path.Field("slow_factor"));
  return slowdown;
}

stats::Distribution ReadSeconds(bool is_set,
                                const prism::v1::Distribution& message,
                                double otherwise, const FieldPath& path,
                                Checker& checker) {
  if (!is_set) return stats::Distribution::MakeConstant(otherwise);
  return ReadDistribution(message, path, checker);
}

completion::Evaluations ReadEvaluations(const prism::v1::Evaluations& message,
                                        int64_t steps, const FieldPath& path,
                                        Checker& checker) {
  completion::Evaluations evaluations;
  if (message.interval_steps() == 0) {
    checker.Require(!message.has_seconds() && message.slow_steps() == 0,
                    path.Field("interval_steps"),
                    "is missing; evaluations need an interval");
    return evaluations;
  }
  evaluations.every_steps = checker.Between(
      message.interval_steps(), 1, kMostSteps, path.Field("interval_steps"));
  evaluations.seconds = ReadSeconds(message.has_seconds(), message.seconds(), 0,
                                    path.Field("seconds"), checker);
  evaluations.after =
      ReadSlowdown(message.slow_steps(), message.slow_factor(),
                   std::min(steps, evaluations.every_steps - 1), path, checker);
  return evaluations;
}

completion::Checkpoints ReadCheckpoints(const prism::v1::Checkpoints& message,
                                        const FieldPath& path,
                                        Checker& checker) {
  using Choice = completion::Checkpoints::Choice;
  completion::Checkpoints checkpoints;
  const int choices = (message.interval_seconds() != 0) +
                      (message.interval_steps() != 0) + message.none();
  checker.Require(choices <= 1, path,
                  "sets more than one of interval_seconds, interval_steps and "
                  "none; set at most one");
  if (message.none()) {
    checkpoints.choice = Choice::kNone;
  } else if (message.interval_steps() != 0) {
    checkpoints.choice = Choice::kSteps;
    checkpoints.interval_steps = checker.Between(
        message.interval_steps(), 1, kMostSteps, path.Field("interval_steps"));
  } else if (message.interval_seconds() != 0) {
    checkpoints.choice = Choice::kSeconds;
    checkpoints.interval_seconds = checker.Above(
        message.interval_seconds(), 0, path.Field("interval_seconds"));
  }
  checkpoints.blocking_seconds =
      message.none() ? 0
      : message.has_blocking_seconds()
          ? checker.AtLeast(message.blocking_seconds(), 0,
                            path.Field("blocking_seconds"))
          : kBlockingSeconds;
  checkpoints.non_blocking_seconds = checker.AtLeast(
      message.background_seconds(), 0, path.Field("background_seconds"));
  return checkpoints;
}

// What `own` leaves open is as `outer` says.
hardware::Reliability Completed(hardware::Reliability own,
                                const hardware::Reliability& outer) {
  if (!own.failures_per_node_day) {
    own.failures_per_node_day = outer.failures_per_node_day;
  }
  if (!own.rate_cv) own.rate_cv = outer.rate_cv;
  if (!own.repair_seconds) own.repair_seconds = outer.repair_seconds;
  if (!own.node_loss_share) own.node_loss_share = outer.node_loss_share;
  return own;
}

completion::Failures FailuresOf(const hardware::Reliability& own,
                                const hardware::Reliability& all, int64_t nodes,
                                const RunPlace& place) {
  completion::Failures failures;
  failures.nodes = nodes;
  failures.per_node_day =
      all.failures_per_node_day.value_or(kUsualFailuresPerNodeDay);
  failures.node_rate_cv = all.rate_cv.value_or(completion::kObservedNodeRateCv);
  failures.node_loss_share = all.node_loss_share.value_or(kNodeLossShare);
  // A rate that the run states itself stands above those of the nodes.
  const bool by_node =
      !own.failures_per_node_day && nodes == place.nodes &&
      static_cast<int64_t>(place.failures_per_day.size()) == nodes;
  if (by_node) failures.of_node = place.failures_per_day;
  return failures;
}

int64_t ReadCount(uint64_t value, const FieldPath& path, Checker& checker) {
  return value == 0 ? 0 : checker.Between(value, 1, kMostNodes, path);
}

}  // namespace

completion::RunPlan ReadRun(const prism::v1::Run& message,
                            const RunPlace& place, const FieldPath& path,
                            Checker& checker) {
  completion::RunPlan plan;
  plan.steps =
      checker.Between(message.steps(), 1, kMostSteps, path.Field("steps"));
  plan.step.autocorrelation =
      message.has_step_autocorrelation()
          ? Within(message.step_autocorrelation(), -0.9, 0.99,
                   path.Field("step_autocorrelation"), checker)
          : kAutocorrelation;
  plan.step.run_factor_deviation =
      message.has_run_factor_sd()
          ? Within(message.run_factor_sd(), 0, kMostFactorDeviation,
                   path.Field("run_factor_sd"), checker)
          : kRunFactorDeviation;
  plan.step.job_factor_deviation =
      Within(message.job_factor_sd(), 0, kMostFactorDeviation,
             path.Field("job_factor_sd"), checker);
  plan.evaluations = ReadEvaluations(message.evaluations(), plan.steps,
                                     path.Field("evaluations"), checker);
  plan.checkpoints = ReadCheckpoints(message.checkpoints(),
                                     path.Field("checkpoints"), checker);
  const FieldPath restarts = path.Field("restarts");
  plan.restarts.seconds = ReadSeconds(
      message.restarts().has_seconds(), message.restarts().seconds(),
      kRestartSeconds, restarts.Field("seconds"), checker);
  plan.restarts.after = ReadSlowdown(message.restarts().slow_steps(),
                                     message.restarts().slow_factor(),
                                     kMostSteps, restarts, checker);
  const FieldPath preemptions = path.Field("preemptions");
  plan.preemptions.per_day = checker.AtLeast(message.preemptions().per_day(), 0,
                                             preemptions.Field("per_day"));
  plan.preemptions.away_seconds =
      ReadSeconds(message.preemptions().has_away_seconds(),
                  message.preemptions().away_seconds(), 0,
                  preemptions.Field("away_seconds"), checker);
  plan.preemptions.saves = message.preemptions().saves();

  const hardware::Reliability own = ReadReliability(
      message.reliability(), path.Field("reliability"), checker);
  const hardware::Reliability all = Completed(own, place.reliability);
  const int64_t nodes =
      message.nodes() == 0
          ? place.nodes
          : ReadCount(message.nodes(), path.Field("nodes"), checker);
  plan.failures = FailuresOf(own, all, nodes, place);
  plan.replacements.spares =
      ReadCount(message.spares(), path.Field("spares"), checker);
  if (all.repair_seconds) {
    plan.replacements.repair_seconds = *all.repair_seconds;
  }
  checker.Require(!message.wait_for_repair() || !message.has_queue_seconds(),
                  path.Field("wait_for_repair"),
                  "is true beside queue_seconds; give one of the two");
  if (!message.wait_for_repair()) {
    plan.replacements.queue_seconds =
        ReadSeconds(message.has_queue_seconds(), message.queue_seconds(), 0,
                    path.Field("queue_seconds"), checker);
  }
  return plan;
}

std::vector<std::string> Assumptions(const prism::v1::Run& message,
                                     const hardware::Reliability& cluster) {
  const prism::v1::Reliability& own = message.reliability();
  std::vector<std::string> notes;
  const std::optional<double> rate =
      own.has_failures_per_node_day()
          ? std::optional(own.failures_per_node_day())
          : cluster.failures_per_node_day;
  if (!rate) {
    notes.push_back(
        absl::StrCat("no failure rate given: ", kUsualFailuresPerNodeDay,
                     " failures a node and day"));
  }
  if (rate == 0) return notes;
  if (message.wait_for_repair() && !own.has_repair_seconds() &&
      !cluster.repair_seconds) {
    notes.push_back(
        "no repair time given: lognormal, median 0.78 and mean 5.3 days");
  }
  if (!message.wait_for_repair() && !message.has_queue_seconds()) {
    notes.push_back("another node is there at once when one is lost");
  }
  if (!message.restarts().has_seconds()) {
    notes.push_back(absl::StrCat("no restart time given: ", kRestartSeconds,
                                 " s after a failure"));
  }
  const prism::v1::Checkpoints& checkpoints = message.checkpoints();
  if (!checkpoints.none() && !checkpoints.has_blocking_seconds()) {
    notes.push_back(absl::StrCat(
        "no time of a checkpoint's write given: ", kBlockingSeconds, " s"));
  }
  return notes;
}

completion::Progress ReadProgress(const prism::v1::Progress& message,
                                  int64_t steps, const FieldPath& path,
                                  Checker& checker) {
  completion::Progress progress;
  if (message.steps_done() > 0) {
    progress.steps_done = checker.Between(message.steps_done(), 1, steps - 1,
                                          path.Field("steps_done"));
  }
  if (message.has_steps_saved()) {
    const uint64_t saved = message.steps_saved();
    checker.Require(
        saved <= message.steps_done(), path.Field("steps_saved"),
        absl::StrCat("is ", saved, "; must be at most steps_done, which is ",
                     message.steps_done()));
    progress.steps_saved =
        static_cast<int64_t>(std::min<uint64_t>(saved, message.steps_done()));
  }
  progress.running = !message.stopped();
  progress.timed_steps =
      message.timed_steps() == 0
          ? 0
          : checker.Between(message.timed_steps(), 1, kMostSteps,
                            path.Field("timed_steps"));
  if (progress.timed_steps > 0) {
    progress.timed_mean_seconds = checker.Above(
        message.timed_mean_seconds(), 0, path.Field("timed_mean_seconds"));
  } else {
    checker.Require(message.timed_mean_seconds() == 0,
                    path.Field("timed_steps"),
                    "is missing; timed_mean_seconds needs it");
  }
  progress.failures = static_cast<int64_t>(
      message.failures() == 0
          ? 0
          : checker.Between(message.failures(), 1, kMostSteps,
                            path.Field("failures")));
  progress.observed_days =
      checker.AtLeast(message.observed_days(), 0, path.Field("observed_days"));
  checker.Require(progress.failures == 0 || progress.observed_days > 0,
                  path.Field("observed_days"),
                  "is missing; failures need the time they were seen in");
  return progress;
}

}  // namespace prism::query
