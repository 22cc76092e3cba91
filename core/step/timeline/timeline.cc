#include "core/step/timeline/timeline.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/step/monte_carlo.h"
#include "core/step/sample_worker.h"
#include "core/step/timeline/recorder.h"
#include "core/step/timeline/selection.h"

namespace prism::step {
namespace {

constexpr size_t kMedian = 3, kP99 = 6;  // indices into kQuantileLevels
static_assert(kQuantileLevels[kMedian] == 0.5 && kQuantileLevels[kP99] == 0.99);

// Fewer say nothing of one step in a hundred.
constexpr int64_t kFewestForP99 = 100;

constexpr int64_t kMostSamples = 1000;
constexpr int64_t kFewestSamples = 3;
// Draws that may be made for many samples, and for the fewest with a p99.
constexpr double kMostDraws = 2e9;
constexpr double kMostDrawsForP99 = 5e9;

constexpr int kMostSteps = 3;

int64_t NearestTo(double seconds, const std::vector<double>& steps) {
  return std::min_element(steps.begin(), steps.end(),
                          [seconds](double a, double b) {
                            return std::abs(a - seconds) <
                                   std::abs(b - seconds);
                          }) -
         steps.begin();
}

// Of a run of steps without a flush what lies in the one that is measured, from
// its beginning on.
void KeepStep(TimelineStep& step) {
  double end = 0;
  for (const TimelineRank& rank : step.ranks) {
    for (const TimelineOperation& ran : rank.operations) {
      end = std::max(end, ran.end_seconds);
    }
  }
  const double begin = end - step.seconds;
  const auto since = [begin](double& seconds) {
    seconds = std::max(0.0, seconds - begin);
  };
  for (TimelineRank& rank : step.ranks) {
    std::erase_if(rank.operations, [begin](const TimelineOperation& ran) {
      return ran.end_seconds <= begin;
    });
    for (TimelineOperation& ran : rank.operations) {
      for (double* seconds :
           {&ran.ready_seconds, &ran.begin_seconds, &ran.end_seconds}) {
        since(*seconds);
      }
      if (ran.input) {
        since(ran.input->sent_seconds);
        since(ran.input->arrival_seconds);
      }
      for (TimelineTask& task : ran.tasks) {
        for (double* seconds :
             {&task.ready_seconds, &task.begin_seconds, &task.end_seconds}) {
          since(*seconds);
        }
      }
    }
  }
}

class Replayer {
 public:
  Replayer(const CompiledGraph& compiled, const TimelineOptions& options,
           const base::Budget& budget)
      : compiled_(compiled), options_(options), budget_(budget) {}

  // Simulates the step twice: to find the replica that ends last, then to
  // record it.
  absl::StatusOr<TimelineStep> Replay(StepKind kind, int64_t sample) {
    SampleWorker worker(
        compiled_, options_.random_key,
        kind == StepKind::kNominal ? DrawMode::kNominal : DrawMode::kRandom);
    TimelineStep step;
    step.kind = kind;
    step.sample = sample;
    if (!worker.Run(sample, 1, budget_, &step.seconds)) return OutOfTime();
    step.last_rank = worker.LastRank();
    const Selection selection =
        SelectRanks(compiled_, step.last_rank, options_.ranks, options_.tasks,
                    std::max<int64_t>(1, options_.most_events / kMostSteps));
    step.ranks_left_out = selection.ranks_left_out;
    step.ranks_without_tasks = selection.ranks_without_tasks;
    step.operations_left_out = selection.operations_left_out;
    TimelineRecorder recorder(compiled_, selection.ranks);
    worker.Observe(&recorder);
    if (!worker.Run(sample, 1, budget_, &step.seconds)) return OutOfTime();
    step.ranks = recorder.Take();
    if (compiled_.graph->is_continuous()) KeepStep(step);
    return step;
  }

 private:
  absl::Status OutOfTime() const {
    if (budget_.Cancelled()) return absl::CancelledError("cancelled");
    return absl::DeadlineExceededError(
        "the deadline passed before the timeline was recorded");
  }

  const CompiledGraph& compiled_;
  const TimelineOptions& options_;
  const base::Budget& budget_;
};

}  // namespace

int64_t UsualSamples(const CompiledGraph& compiled) {
  const double draws = DrawsPerStep(compiled);
  const double samples =
      std::max(kMostDraws / draws,
               std::min<double>(kFewestForP99, kMostDrawsForP99 / draws));
  return static_cast<int64_t>(
      std::clamp<double>(samples, kFewestSamples, kMostSamples));
}

absl::StatusOr<Timeline> RecordTimeline(const StepGraph& graph,
                                        const TimelineOptions& options,
                                        const base::Budget& budget,
                                        base::Executor& executor) {
  const auto compiled = Compile(graph);
  if (!compiled.ok()) return compiled.status();
  const SimulationOptions simulation = {
      .method = Method::kMonteCarlo,
      .samples = options.samples.value_or(UsualSamples(*compiled)),
      .random_key = options.random_key};
  // The steps that are recorded take a fraction of what all take, but where
  // there are few.
  const auto run = SimulateSteps(*compiled, simulation,
                                 base::PartOfBudget(budget, 0.5), executor);
  if (!run.ok()) return run.status();
  Timeline timeline;
  timeline.time = run->time;
  std::vector<std::pair<StepKind, int64_t>> wanted = {
      {StepKind::kNominal, 0},
      {StepKind::kTypical,
       NearestTo(run->time.quantile_seconds[kMedian], run->step_seconds)}};
  if (run->time.samples >= kFewestForP99) {
    wanted.emplace_back(
        StepKind::kP99,
        NearestTo(run->time.quantile_seconds[kP99], run->step_seconds));
  }
  Replayer replayer(*compiled, options, budget);
  for (const auto& [kind, sample] : wanted) {
    auto step = replayer.Replay(kind, sample);
    if (!step.ok()) return step.status();
    timeline.steps.push_back(*std::move(step));
  }
  return timeline;
}

}  // namespace prism::step
