#include "core/completion/attempts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/completion/closed_forms.h"
#include "core/stats/draw_kernels.h"

namespace prism::completion {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Fewer steps than this are drawn one by one.
constexpr int64_t kFewSteps = 256;

// Beyond this many expected attempts none is made.
constexpr double kHopelessAttempts = 10.0 * AttemptModel::kMostAttempts;

// From this many failures on their count is spread evenly over runs.
constexpr double kFewFailures = 4;
constexpr int64_t kMostSummed = 8192;
constexpr double kMostBinary = 40;
constexpr int64_t kSumsPerPoll = 64;

// What a row of draws is for: the "operation" of its address.
enum class Purpose : uint32_t {
  kFailure,     // time to failure, whether it takes the node out
  kOverheads,   // restart, repair
  kSpeed,       // how far it gets, factor of this start
  kPreemption,  // time to preemption, time away
  kQueue,       // for a replacement
  kTiming,      // error of the steps timed so far
  kSteps        // a short run's steps and evaluations
};

using Row = std::vector<double>;

}  // namespace

AttemptModel::AttemptModel(const RunPlan& plan, int64_t interval_steps,
                           uint64_t key)
    : plan_(plan),
      key_(key),
      course_(plan, interval_steps),
      factors_(plan.step, plan.progress),
      rate_(FailureRate(plan.failures, plan.progress)),
      restart_(plan.restarts.seconds),
      repair_(plan.replacements.repair_seconds),
      away_(plan.preemptions.away_seconds),
      preemptions_per_second_(plan.preemptions.per_day / kSecondsPerDay) {
  if (plan.replacements.queue_seconds.has_value()) {
    queue_.emplace(*plan.replacements.queue_seconds);
  }
  const int64_t done = plan.progress.steps_done;
  const int64_t grid =
      interval_steps > 0 ? done / interval_steps * interval_steps : 0;
  saved_ = std::min(done, plan.progress.steps_saved.value_or(grid));
  if (course_.steps() - saved_ <= kFewSteps) path_.emplace(plan, course_);
  const double nominal = course_.NominalSeconds(saved_);
  most_up_seconds_ = kMostTimes * (nominal + restart_.stated_mean());
  // A power of two, so that plans that differ a little share it.
  const double failures = nominal * rate_.stated_mean();
  if (failures >= kFewFailures) {
    const double binary = std::round(std::log2(failures));
    summed_failures_ =
        std::min(kMostSummed,
                 int64_t{1} << static_cast<int>(std::min(binary, kMostBinary)));
    const double n = static_cast<double>(summed_failures_);
    failure_sum_.emplace(stats::Distribution::MakeGamma(n, 1 / std::sqrt(n)));
  }
}

// Pairs of runs side by side, one attempt of all of them at a time.
class AttemptBlock {
 public:
  AttemptBlock(const AttemptModel& model, const std::vector<PairStart>& pairs)
      : model_(model), pairs_(pairs), runs_(2 * pairs.size()) {
    for (Row* row : {&failure_, &kind_, &restart_, &repair_, &progress_,
                     &factor_, &preemption_, &away_, &queue_, &timing_}) {
      row->resize(stats::RowSize(runs_.size()));
    }
    live_.resize(stats::RowSize(runs_.size()));
    replica_.assign(stats::RowSize(runs_.size()), 0);
    pair_.assign(stats::RowSize(runs_.size()), 0);
    Begin();
  }

  bool Run(const base::Budget& budget) {
    if (!SpreadFailures(budget)) return false;
    for (attempt_ = 0; live_count_ > 0; ++attempt_) {
      if (Ended(budget)) return false;
      DrawRows();
      for (size_t i = 0; i < live_count_; ++i) Advance(i);
      DropEnded();
    }
    return true;
  }

  void CopyOutcomes(std::vector<Outcome>& outcomes) const {
    for (const Simulated& run : runs_) outcomes.push_back(run.outcome);
  }

 private:
  struct Simulated {
    Outcome outcome;
    double rate = 0;  // failures per second
    double job_score = 0, job_factor = 1;
    double up_seconds = 0;
    int64_t step = 0, saved = 0;
    int64_t spares = 0;
    std::vector<double> repaired_at;  // a heap, earliest first
    bool ended = false;
  };

  static bool Ended(const base::Budget& budget) {
    return budget.Cancelled() || budget.Remaining() <= absl::ZeroDuration();
  }

  static bool Mirrored(uint64_t run) { return run % 2 == 1; }

  void Begin() {
    const size_t n = runs_.size();
    Row rate(stats::RowSize(n), 0.5), score(stats::RowSize(n), 0.5);
    for (size_t i = 0; i < n; ++i) {
      const PairStart& pair = pairs_[i / 2];
      rate[i] = Mirrored(i) ? 1 - pair.rate_uniform : pair.rate_uniform;
      score[i] = Mirrored(i) ? 1 - pair.factor_uniform : pair.factor_uniform;
    }
    model_.rate_.Draw(rate.data(), n, scratch_, rate.data());
    stats::NormalScores(score.data(), n, score.data());
    for (size_t i = 0; i < n; ++i) {
      Simulated& run = runs_[i];
      run.rate = rate[i];
      run.job_score = score[i];
      run.step = model_.plan_.progress.steps_done;
      run.saved = model_.saved_;
      run.spares = model_.plan_.replacements.spares;
      run.ended = run.step >= model_.course_.steps();
      if (!model_.plan_.progress.running && Hopeless(run)) GiveUp(run);
      live_[i] = i;
    }
    live_count_ = n;
    DropEnded();
  }

  // The number of failures moves the end most. It follows from the sum of the
  // first times to failure, a gamma, independent of their proportions: so the
  // sum is placed by a uniform that is spread evenly, and the times are drawn
  // and scaled to it.
  bool SpreadFailures(const base::Budget& budget) {
    failure_scale_.assign(stats::RowSize(runs_.size()), 0);
    if (!model_.failure_sum_.has_value() || live_count_ == 0) return true;
    const size_t n = live_count_;
    Row sum(stats::RowSize(n), 0.0), target(stats::RowSize(n), 0.5);
    for (attempt_ = 0; attempt_ < model_.summed_failures_; ++attempt_) {
      if (attempt_ % kSumsPerPoll == 0 && Ended(budget)) return false;
      DrawFailures();
      for (size_t i = 0; i < n; ++i) sum[i] += failure_[i];
    }
    for (size_t i = 0; i < n; ++i) {
      const double u = pairs_[live_[i] / 2].failures_uniform;
      target[i] = Mirrored(live_[i]) ? 1 - u : u;
    }
    model_.failure_sum_->Draw(target.data(), n, scratch_, target.data());
    for (size_t i = 0; i < n; ++i) {
      failure_scale_[live_[i]] = target[i] / sum[i];
    }
    return true;
  }

  // Expected attempts, from a start to a checkpoint that counts and from there
  // to the next, far beyond what is allowed.
  bool Hopeless(const Simulated& run) const {
    const Course& course = model_.course_;
    const int64_t left = course.steps() - run.saved;
    const int64_t stretch = course.interval_steps() > 0
                                ? std::min(course.interval_steps(), left)
                                : left;
    const double lost_with =
        run.rate +
        (model_.plan_.preemptions.saves ? 0 : model_.preemptions_per_second_);
    const double needed =
        static_cast<double>(stretch) * model_.plan_.step.mean_seconds +
        course.blocking_seconds() + course.settling_seconds();
    const double checkpoints =
        static_cast<double>(left) / static_cast<double>(stretch);
    return !run.ended &&
           std::expm1(lost_with * needed) * checkpoints > kHopelessAttempts;
  }

  void GiveUp(Simulated& run) {
    run.ended = true;
    run.outcome.finish_seconds = kInfinity;
  }

  void DropEnded() {
    const auto end = std::remove_if(live_.begin(), live_.begin() + live_count_,
                                    [&](uint64_t i) { return runs_[i].ended; });
    live_count_ = end - live_.begin();
  }

  // Two rows of uniforms, mirrored for the second of each pair.
  void Uniforms(Purpose purpose, Row& first, Row& second) {
    const stats::RowStream stream = {
        model_.key_, static_cast<uint32_t>(attempt_),
        static_cast<uint32_t>(purpose), replica_.data(), pair_.data()};
    stats::UniformRows(stream, live_count_, first.data(), second.data());
    for (size_t i = 0; i < live_count_; ++i) {
      if (!Mirrored(live_[i])) continue;
      first[i] = 1 - first[i];
      second[i] = 1 - second[i];
    }
  }

  void DrawFailures() {
    for (size_t i = 0; i < live_count_; ++i) {
      pair_[i] = pairs_[live_[i] / 2].pair;
    }
    Uniforms(Purpose::kFailure, failure_, kind_);
    stats::ShiftedExponentialRow(failure_.data(), live_count_, 0, 1,
                                 failure_.data());
  }

  void DrawRows() {
    const size_t n = live_count_;
    DrawFailures();
    if (attempt_ < model_.summed_failures_) {
      for (size_t i = 0; i < n; ++i) failure_[i] *= failure_scale_[live_[i]];
    }
    Uniforms(Purpose::kOverheads, restart_, repair_);
    model_.restart_.Draw(restart_.data(), n, scratch_, restart_.data());
    if (model_.plan_.failures.node_loss_share > 0) {
      model_.repair_.Draw(repair_.data(), n, scratch_, repair_.data());
    }
    Uniforms(Purpose::kSpeed, progress_, factor_);
    stats::NormalScores(progress_.data(), n, progress_.data());
    stats::NormalScores(factor_.data(), n, factor_.data());
    if (attempt_ > 0) {
      stats::LognormalRow(factor_.data(), n, model_.factors_.log_mean(),
                          model_.factors_.log_deviation(), factor_.data());
    }
    if (model_.preemptions_per_second_ > 0) {
      Uniforms(Purpose::kPreemption, preemption_, away_);
      stats::ShiftedExponentialRow(preemption_.data(), n, 0, 1,
                                   preemption_.data());
      model_.away_.Draw(away_.data(), n, scratch_, away_.data());
    }
    if (model_.queue_.has_value() || attempt_ == 0) {
      Uniforms(Purpose::kQueue, queue_, timing_);
      stats::NormalScores(timing_.data(), n, timing_.data());
    }
    if (model_.queue_.has_value()) {
      model_.queue_->Draw(queue_.data(), n, scratch_, queue_.data());
    }
  }

  // Of all steps until the next failure. Fixes the job's factor at the first.
  double Factor(Simulated& run, size_t i) {
    if (attempt_ > 0) return run.job_factor * factor_[i];
    const auto logs =
        model_.factors_.Draw(run.job_score, factor_[i], timing_[i]);
    run.job_factor = std::exp(logs.job);
    return std::exp(logs.job + logs.present);
  }

  Reached Work(uint64_t index, size_t i, bool fresh, double factor,
               double seconds, bool save_all) {
    const Simulated& run = runs_[index];
    if (!model_.path_.has_value()) {
      return model_.course_.Run(run.step, fresh, factor, progress_[i], seconds,
                                save_all);
    }
    const AttemptAddress address = {
        model_.key_, static_cast<uint32_t>(Purpose::kSteps),
        static_cast<uint32_t>(attempt_), pair_[i], Mirrored(index)};
    return model_.path_->Run(address, run.step, fresh, factor, seconds,
                             save_all, path_scratch_);
  }

  // One attempt of the i-th live run.
  void Advance(size_t i) {
    Simulated& run = runs_[live_[i]];
    Outcome& outcome = run.outcome;
    const double to_failure = run.rate > 0 ? failure_[i] / run.rate : kInfinity;
    const double to_preemption =
        model_.preemptions_per_second_ > 0
            ? preemption_[i] / model_.preemptions_per_second_
            : kInfinity;
    const bool preempted = to_preemption < to_failure;
    const double up = std::min(to_failure, to_preemption);
    const bool fresh = attempt_ > 0 || !model_.plan_.progress.running;
    const double start = fresh ? restart_[i] : 0;
    const double factor = Factor(run, i);
    if (up < start) {
      outcome.restart_seconds += up;
      FallBack(run, factor);
    } else {
      outcome.restart_seconds += start;
      const Reached reached = Work(live_[i], i, fresh, factor, up - start,
                                   preempted && model_.plan_.preemptions.saves);
      Credit(run, reached);
      if (reached.finished) {
        outcome.clock_seconds += start + reached.seconds;
        outcome.finish_seconds = outcome.clock_seconds;
        run.ended = true;
        return;
      }
      outcome.lost_seconds += up - start - reached.seconds;
      if (reached.saved > run.step) {
        run.step = run.saved = reached.saved;
      } else {
        FallBack(run, factor);
      }
    }
    outcome.clock_seconds += up;
    run.up_seconds += up;
    EndAttempt(run, i, preempted);
    if (run.up_seconds > model_.most_up_seconds_ ||
        (attempt_ == 0 && Hopeless(run)) ||
        attempt_ + 1 >= AttemptModel::kMostAttempts) {
      GiveUp(run);
    }
  }

  void Credit(Simulated& run, const Reached& reached) {
    Outcome& outcome = run.outcome;
    outcome.writing_seconds += reached.writing_seconds;
    outcome.restart_seconds += reached.slow_start_seconds;
    outcome.productive_seconds +=
        reached.seconds - reached.writing_seconds - reached.slow_start_seconds;
  }

  // To the last checkpoint. Steps done before now are lost as well; doing them
  // again is no gain.
  void FallBack(Simulated& run, double factor) {
    const double again = static_cast<double>(run.step - run.saved) * factor *
                         model_.course_.mean_step_seconds();
    run.outcome.lost_seconds += again;
    run.outcome.productive_seconds -= again;
    run.step = run.saved;
  }

  void EndAttempt(Simulated& run, size_t i, bool preempted) {
    Outcome& outcome = run.outcome;
    if (preempted) {
      ++outcome.preemptions;
      outcome.away_seconds += away_[i];
      outcome.clock_seconds += away_[i];
      return;
    }
    ++outcome.failures;
    if (kind_[i] >= model_.plan_.failures.node_loss_share) return;
    const double wait = WaitForNode(run, i);
    outcome.waiting_seconds += wait;
    outcome.clock_seconds += wait;
  }

  // Takes a spare, waits for the first repair to end, or has a node from the
  // queue take the place of the lost one for good.
  double WaitForNode(Simulated& run, size_t i) {
    auto& heap = run.repaired_at;
    const double now = run.outcome.clock_seconds;
    const auto later = std::greater<double>();
    while (!heap.empty() && heap.front() <= now) {
      std::pop_heap(heap.begin(), heap.end(), later);
      heap.pop_back();
      ++run.spares;
    }
    double until = now;
    if (run.spares > 0) {
      --run.spares;
    } else {
      const double own = now + repair_[i];
      until = heap.empty() ? own : std::min(own, heap.front());
      if (model_.queue_.has_value() && now + queue_[i] < until) {
        return queue_[i];
      }
      if (until == own) return own - now;
      std::pop_heap(heap.begin(), heap.end(), later);
      heap.pop_back();
    }
    heap.push_back(now + repair_[i]);
    std::push_heap(heap.begin(), heap.end(), later);
    return until - now;
  }

  const AttemptModel& model_;
  const std::vector<PairStart>& pairs_;
  std::vector<Simulated> runs_;
  std::vector<uint64_t> live_;  // runs that have not ended
  size_t live_count_ = 0;
  int64_t attempt_ = 0;
  std::vector<uint64_t> replica_, pair_;
  Row failure_scale_;  // by run
  Row failure_, kind_, restart_, repair_, progress_, factor_;
  Row preemption_, away_, queue_, timing_;
  stats::Sampler::Scratch scratch_;
  StepPath::Scratch path_scratch_;
};

bool AttemptModel::Simulate(const std::vector<PairStart>& pairs,
                            const base::Budget& budget,
                            std::vector<Outcome>& outcomes) const {
  AttemptBlock block(*this, pairs);
  if (!block.Run(budget)) return false;
  outcomes.clear();
  block.CopyOutcomes(outcomes);
  return true;
}

}  // namespace prism::completion
