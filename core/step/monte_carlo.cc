#include "core/step/monte_carlo.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>
#include <vector>

#include "core/stats/sample_quantiles.h"
#include "core/step/block_simulator.h"
#include "core/step/sample_worker.h"

namespace prism::step {
namespace {

// What an open-ended question is answered to.
constexpr double kMedianError = 0.001;
constexpr double kP95Error = 0.003;
constexpr int kMedianIndex = 3;
constexpr int kP95Index = 5;

constexpr int64_t kFirstRound = 1024;
constexpr int64_t kMostSamples = 10'000'000;
constexpr int64_t kFewestSamples = 100;

// Kept back from a deadline for summing up and sending the answer.
constexpr absl::Duration kAnswerReserve = absl::Milliseconds(2);

constexpr size_t kMostBytes = size_t{4} << 30;

class Simulation {
 public:
  Simulation(const CompiledGraph& compiled, const SimulationOptions& options,
             const base::Budget& budget, base::Executor& executor)
      : compiled_(compiled),
        options_(options),
        budget_(budget),
        executor_(executor),
        block_(BlockSimulator::PreferredElements(compiled)),
        chunk_(std::max<int64_t>(
            1, static_cast<int64_t>(block_) / compiled.graph->grid.replicas)) {
    for (int i = 0; i < executor.concurrency(); ++i) {
      workers_.emplace_back(compiled, options.random_key);
    }
  }

  absl::StatusOr<SimulatedSteps> Run() {
    const size_t needed = BytesNeeded();
    if (needed > kMostBytes) return NeedsTooMuch();
    for (SampleWorker& worker : workers_) {
      worker.LimitMemory((kMostBytes - needed) / workers_.size());
    }
    bool complete = true;
    int64_t wanted = options_.samples.value_or(kFirstRound);
    while (complete) {
      complete = Extend(wanted);
      if (OutOfMemory()) return NeedsTooMuch();
      if (budget_.Cancelled()) return absl::CancelledError("cancelled");
      if (const int64_t fewest = std::min(kFewestSamples, wanted);
          done_ < fewest) {
        return absl::DeadlineExceededError(absl::StrCat(
            "the deadline passed before ", fewest, " steps were simulated"));
      }
      if (options_.samples.has_value()) break;
      const int64_t more = SamplesForTarget();
      if (more <= done_) break;
      wanted = more;
    }
    return SimulatedSteps{Summary(complete), std::move(step_seconds_)};
  }

 private:
  // Clocks and arrivals of one block per thread.
  size_t BytesNeeded() const {
    const RankGrid& grid = compiled_.graph->grid;
    const size_t whole = static_cast<size_t>(chunk_) * grid.replicas;
    const size_t block =
        compiled_.replicas_interact ? whole : std::min(block_, whole);
    const size_t rows =
        (3 * grid.stages + compiled_.plan.slots + 8 + compiled_.stream_rows) *
        size_t(grid.lanes);
    return (rows * block + 2 * size_t(grid.stages) * grid.lanes * whole) *
           sizeof(double) * executor_.concurrency();
  }

  static absl::Status NeedsTooMuch() {
    return absl::ResourceExhaustedError(
        "one simulated step needs more than 4 GiB of memory");
  }

  bool OutOfMemory() const {
    return std::any_of(
        workers_.begin(), workers_.end(),
        [](const SampleWorker& worker) { return worker.out_of_memory(); });
  }

  bool OutOfTime() const {
    if (budget_.Cancelled() || budget_.Remaining() < kAnswerReserve) {
      return true;
    }
    // Patience ends a search for precision, never the answer itself.
    return !options_.samples.has_value() && simulated_ >= kFewestSamples &&
           budget_.Elapsed() > options_.patience;
  }

  // Simulates up to `wanted` samples; false where time ran out before. What is
  // kept is a run of whole chunks from the start, so that a sample's place
  // never depends on threads.
  bool Extend(int64_t wanted) {
    const int64_t chunks = (wanted - done_ + chunk_ - 1) / chunk_;
    step_seconds_.resize(done_ + chunks * chunk_);
    std::vector<char> finished(chunks, 0);
    std::atomic<int64_t> next{0};
    executor_.ParallelFor(static_cast<int>(workers_.size()), [&](int worker) {
      for (int64_t i = next++; i < chunks; i = next++) {
        if (OutOfTime()) return;
        const int64_t first = done_ + i * chunk_;
        finished[i] =
            workers_[worker].Run(first, chunk_, budget_, &step_seconds_[first]);
        if (finished[i]) simulated_ += chunk_;
      }
    });
    int64_t whole = 0;
    while (whole < chunks && finished[whole]) ++whole;
    done_ = std::min(wanted, done_ + whole * chunk_);
    step_seconds_.resize(done_);
    return done_ == wanted;
  }

  // Samples after which the errors of p50 and p95 should be small enough; at
  // most `done_` if they are.
  int64_t SamplesForTarget() {
    const StepTime now = Summary(true);
    auto excess = [&](int i, double target) {
      const double wanted = target * now.quantile_seconds[i];
      return wanted > 0 ? now.standard_error_seconds[i] / wanted : 0.0;
    };
    const double worst = std::max(excess(kMedianIndex, kMedianError),
                                  excess(kP95Index, kP95Error));
    if (worst <= 1) return 0;
    const double factor = std::clamp(1.1 * worst * worst, 1.25, 8.0);
    return std::min<int64_t>(kMostSamples,
                             static_cast<int64_t>(done_ * factor));
  }

  StepTime Summary(bool complete) {
    std::vector<double> sorted = step_seconds_;
    std::sort(sorted.begin(), sorted.end());
    const auto moments = stats::SampleMoments(step_seconds_);
    StepTime result;
    result.mean_seconds = moments.mean;
    result.standard_deviation_seconds = moments.standard_deviation;
    for (size_t i = 0; i < kQuantileLevels.size(); ++i) {
      result.quantile_seconds[i] =
          stats::SortedQuantile(sorted, kQuantileLevels[i]);
      result.standard_error_seconds[i] =
          stats::SortedQuantileError(sorted, kQuantileLevels[i]);
    }
    result.samples = done_;
    result.method = Method::kMonteCarlo;
    result.quality = complete ? Quality::kExact : Quality::kReduced;
    return result;
  }

  const CompiledGraph& compiled_;
  const SimulationOptions& options_;
  const base::Budget& budget_;
  base::Executor& executor_;
  const size_t block_;
  const int64_t chunk_;
  std::vector<SampleWorker> workers_;
  std::vector<double> step_seconds_;
  int64_t done_ = 0;
  std::atomic<int64_t> simulated_{0};
};

}  // namespace

absl::StatusOr<StepTime> SimulateMonteCarlo(const CompiledGraph& compiled,
                                            const SimulationOptions& options,
                                            const base::Budget& budget,
                                            base::Executor& executor) {
  auto steps = SimulateSteps(compiled, options, budget, executor);
  if (!steps.ok()) return steps.status();
  return steps->time;
}

absl::StatusOr<SimulatedSteps> SimulateSteps(const CompiledGraph& compiled,
                                             const SimulationOptions& options,
                                             const base::Budget& budget,
                                             base::Executor& executor) {
  return Simulation(compiled, options, budget, executor).Run();
}

}  // namespace prism::step
