#include "core/explain/compared_steps.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>
#include <utility>

#include "core/stats/sample_quantiles.h"
#include "core/step/block_simulator.h"
#include "core/step/compiled_graph.h"
#include "core/step/composition/sharded.h"
#include "core/step/composition/structured.h"
#include "core/step/sample_worker.h"

namespace prism::explain {
namespace {

using step::CompiledGraph;
using step::StepTime;

// Draws of all graphs together, and of each graph the steps that are worth
// drawing one by one.
constexpr double kMostDraws = 4e8;
constexpr double kMostSamples = 8192;
constexpr double kWorthDrawing = 1000;
constexpr double kFewestSamples = 100;

// Steps without which there is nothing to compare.
constexpr int64_t kFewestToCompare = 32;

constexpr size_t kMostBytes = size_t{4} << 30;

constexpr int kBatches = 16;
constexpr int64_t kFewestInBatch = 4;

// Answers by structure, each with draws of its own; fewer where a replica has
// so many draws that each takes long.
constexpr int kKeys = 6;
constexpr int kFewKeys = 3;
constexpr double kManyDraws = 5e5;
constexpr uint64_t kKeyStep = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio

// Kept back from a deadline for summing up and sending the answer.
constexpr absl::Duration kAnswerReserve = absl::Milliseconds(10);

constexpr size_t kMedian = 3, kP95 = 5;  // in step::kQuantileLevels
static_assert(step::kQuantileLevels[kMedian] == 0.5 &&
              step::kQuantileLevels[kP95] == 0.95);

// The time that one of several computations takes: methods judge by what they
// have spent how much is left for.
class OwnBudget final : public base::Budget {
 public:
  explicit OwnBudget(const base::Budget& whole)
      : whole_(whole), began_(whole.Elapsed()) {}

  bool Cancelled() const override { return whole_.Cancelled(); }
  absl::Duration Elapsed() const override { return whole_.Elapsed() - began_; }
  absl::Duration Remaining() const override { return whole_.Remaining(); }

 private:
  const base::Budget& whole_;
  const absl::Duration began_;
};

StepTime TimeOf(std::span<const double> seconds) {
  std::vector<double> sorted(seconds.begin(), seconds.end());
  std::sort(sorted.begin(), sorted.end());
  const auto moments = stats::SampleMoments(seconds);
  StepTime time;
  time.mean_seconds = moments.mean;
  time.standard_deviation_seconds = moments.standard_deviation;
  for (size_t q = 0; q < step::kQuantileLevels.size(); ++q) {
    const double level = step::kQuantileLevels[q];
    time.quantile_seconds[q] = stats::SortedQuantile(sorted, level);
    time.standard_error_seconds[q] = stats::SortedQuantileError(sorted, level);
  }
  time.samples = static_cast<int64_t>(seconds.size());
  return time;
}

StepSummary SummaryOf(const StepTime& time) {
  return {.mean_seconds = time.mean_seconds,
          .variance =
              time.standard_deviation_seconds * time.standard_deviation_seconds,
          .p50_seconds = time.quantile_seconds[kMedian],
          .p95_seconds = time.quantile_seconds[kP95]};
}

bool IsPossible(const ComparedStep& step) {
  return std::isfinite(step.summary.mean_seconds) &&
         std::isfinite(step.summary.variance) &&
         std::isfinite(step.summary.p95_seconds) &&
         step.time.quantile_seconds[0] >= 0;
}

class Comparison {
 public:
  Comparison(const std::vector<CompiledGraph>& compiled,
             const ComparisonOptions& options, const base::Budget& budget,
             base::Executor& executor)
      : compiled_(compiled),
        options_(options),
        budget_(budget),
        executor_(executor) {}

  absl::StatusOr<ComparedSteps> Run() {
    const double affordable = kMostDraws / (step::DrawsPerStep(compiled_[0]) *
                                            static_cast<double>(count()));
    if (options_.samples) return ByDraws(*options_.samples);
    using Way = ComparisonOptions::Way;
    if (options_.way == Way::kStructure ||
        (options_.way == Way::kCheaper && affordable < kWorthDrawing)) {
      auto result = ByStructure();
      if (!result.ok() || !result->steps.empty()) return result;
    }
    return ByDraws(static_cast<int64_t>(
        std::clamp(affordable, kFewestSamples, kMostSamples)));
  }

 private:
  size_t count() const { return compiled_.size(); }

  absl::Status Over() const {
    if (budget_.Cancelled()) return absl::CancelledError("cancelled");
    return absl::DeadlineExceededError(
        "the deadline passed before there were steps to compare");
  }

  // Whether another round as long as the one that began then fits in.
  bool HasTimeFor(absl::Duration began) const {
    return budget_.Remaining() > budget_.Elapsed() - began + kAnswerReserve;
  }

  // --- draw by draw ---

  absl::StatusOr<ComparedSteps> ByDraws(int64_t samples) {
    seconds_.assign(count(), {});
    const int64_t round = (samples + kBatches - 1) / kBatches;
    int64_t done = 0;
    while (done < samples) {
      const absl::Duration began = budget_.Elapsed();
      const int64_t size = std::min(round, samples - done);
      if (!Extend(done, size)) break;
      done += size;
      if (!HasTimeFor(began)) break;
    }
    if (out_of_memory_) {
      return absl::ResourceExhaustedError(
          "one simulated step needs more than 4 GiB of memory");
    }
    if (budget_.Cancelled() || done < std::min(samples, kFewestToCompare)) {
      return Over();
    }
    ComparedSteps result;
    for (const auto& seconds : seconds_) {
      result.steps.push_back(Drawn({seconds.data(), size_t(done)}));
    }
    result.samples = done;
    if (done < samples) result.quality = step::Quality::kReduced;
    return result;
  }

  // Steps [first, first + size) of every graph.
  bool Extend(int64_t first, int64_t size) {
    std::vector<char> finished(count(), 0);
    executor_.ParallelFor(static_cast<int>(count()), [&](int i) {
      const CompiledGraph& compiled = compiled_[i];
      step::SampleWorker worker(compiled, options_.random_key);
      worker.LimitMemory(kMostBytes / size_t(executor_.concurrency()));
      const int64_t chunk = std::max<int64_t>(
          1, static_cast<int64_t>(
                 step::BlockSimulator::PreferredElements(compiled)) /
                 compiled.graph->grid.replicas);
      seconds_[i].resize(first + size);
      for (int64_t s = first; s < first + size; s += chunk) {
        const int64_t part = std::min(chunk, first + size - s);
        if (budget_.Remaining() <= kAnswerReserve ||
            !worker.Run(s, part, budget_, &seconds_[i][s])) {
          if (worker.out_of_memory()) out_of_memory_ = true;
          return;
        }
      }
      finished[i] = 1;
    });
    return std::all_of(finished.begin(), finished.end(),
                       [](char done) { return done != 0; });
  }

  static ComparedStep Drawn(std::span<const double> seconds) {
    ComparedStep step;
    step.time = TimeOf(seconds);
    step.summary = SummaryOf(step.time);
    const auto size = static_cast<int64_t>(seconds.size());
    const int64_t batches =
        std::clamp<int64_t>(size / kFewestInBatch, 1, kBatches);
    for (int64_t b = 0; b < batches; ++b) {
      const int64_t begin = size * b / batches;
      const int64_t end = size * (b + 1) / batches;
      step.batches.push_back(
          SummaryOf(TimeOf(seconds.subspan(begin, end - begin))));
    }
    return step;
  }

  // --- by structure ---

  // No steps where the structure of a graph is not one that the method knows.
  absl::StatusOr<ComparedSteps> ByStructure() {
    std::vector<std::vector<StepTime>> times(count());
    ComparedSteps result;
    int done = 0;
    const int keys =
        step::DrawsPerStep(compiled_[0]) / compiled_[0].graph->grid.replicas >
                kManyDraws
            ? kFewKeys
            : kKeys;
    for (int key = 0; key < keys; ++key) {
      const absl::Duration began = budget_.Elapsed();
      std::vector<StepTime> round(count());
      const absl::Status status = Solve(key, round);
      if (absl::IsUnimplemented(status)) return ComparedSteps{};
      if (!status.ok() && (done == 0 || absl::IsCancelled(status))) {
        return status;
      }
      if (!status.ok()) break;
      for (size_t i = 0; i < count(); ++i) times[i].push_back(round[i]);
      ++done;
      if (!HasTimeFor(began)) break;
    }
    for (const auto& of_keys : times) result.steps.push_back(Joined(of_keys));
    result.method = step::Method::kAuto;
    result.quality = done < keys || reduced_ ? step::Quality::kReduced
                                             : step::Quality::kExact;
    result.samples = result.steps[0].time.samples;
    return result;
  }

  absl::Status Solve(int key, std::vector<StepTime>& round) {
    step::SimulationOptions options = {.random_key = options_.random_key +
                                                     kKeyStep * uint64_t(key)};
    absl::Status status = SolveOne(0, options, round[0]);
    if (!status.ok()) return status;
    options.compared_spread_seconds =
        round[0].quantile_seconds[4] - round[0].quantile_seconds[2];
    std::vector<absl::Status> statuses(count());
    executor_.ParallelFor(static_cast<int>(count()) - 1, [&](int i) {
      statuses[i + 1] = SolveOne(i + 1, options, round[i + 1]);
    });
    for (const StepTime& time : round) {
      reduced_ = reduced_ || time.quality == step::Quality::kReduced;
    }
    for (const absl::Status& one : statuses) status.Update(one);
    return status;
  }

  absl::Status SolveOne(int graph, const step::SimulationOptions& options,
                        StepTime& time) const {
    base::InlineExecutor executor;
    const OwnBudget budget(budget_);
    const CompiledGraph& compiled = compiled_[graph];
    std::optional<absl::StatusOr<StepTime>> solved;
    if (!compiled.graph->is_continuous()) {
      solved = compiled.replicas_interact
                   ? SimulateSharded(compiled, options, budget, executor)
                   : SimulateStructured(compiled, options, budget, executor);
    }
    if (!solved) return absl::UnimplementedError("another structure");
    if (!solved->ok()) return solved->status();
    time = **solved;
    return absl::OkStatus();
  }

  static ComparedStep Joined(const std::vector<StepTime>& of_keys) {
    ComparedStep step;
    const double share = 1 / static_cast<double>(of_keys.size());
    StepTime& sum = step.time;
    sum.method = step::Method::kAuto;
    for (const StepTime& time : of_keys) {
      step.batches.push_back(SummaryOf(time));
      const StepSummary& own = step.batches.back();
      sum.mean_seconds += share * own.mean_seconds;
      step.summary.variance += share * own.variance;
      for (size_t q = 0; q < step::kQuantileLevels.size(); ++q) {
        sum.quantile_seconds[q] += share * time.quantile_seconds[q];
        sum.standard_error_seconds[q] += share * time.standard_error_seconds[q];
      }
      sum.samples += time.samples;
    }
    sum.standard_deviation_seconds = std::sqrt(step.summary.variance);
    step.summary = SummaryOf(sum);
    return step;
  }

  const std::vector<CompiledGraph>& compiled_;
  const ComparisonOptions& options_;
  const base::Budget& budget_;
  base::Executor& executor_;
  std::vector<std::vector<double>> seconds_;  // by graph and sample
  bool reduced_ = false;
  std::atomic<bool> out_of_memory_{false};
};

// A number of a step less that of the base, over batches.
template <typename Number>
Difference DifferenceOf(const ComparedStep& step, const ComparedStep& base,
                        const Number& number) {
  std::vector<double> differences;
  for (size_t b = 0; b < step.batches.size(); ++b) {
    differences.push_back(number(step.batches[b], base.batches[b]));
  }
  const auto moments = stats::SampleMoments(differences);
  return {number(step.summary, base.summary),
          moments.standard_deviation /
              std::sqrt(static_cast<double>(differences.size()))};
}

// One batch has no scatter: then the error is what both steps' own say.
Difference QuantileDifference(const ComparedStep& step,
                              const ComparedStep& base, size_t level,
                              double StepSummary::*quantile) {
  Difference difference = DifferenceOf(
      step, base, [quantile](const StepSummary& a, const StepSummary& b) {
        return a.*quantile - b.*quantile;
      });
  if (step.batches.size() == 1) {
    difference.standard_error =
        std::hypot(step.time.standard_error_seconds[level],
                   base.time.standard_error_seconds[level]);
  }
  return difference;
}

}  // namespace

absl::StatusOr<ComparedSteps> CompareSteps(
    const std::vector<step::StepGraph>& graphs,
    const ComparisonOptions& options, const base::Budget& budget,
    base::Executor& executor) {
  std::vector<CompiledGraph> compiled;
  for (const step::StepGraph& graph : graphs) {
    auto one = step::Compile(graph);
    if (!one.ok()) return one.status();
    compiled.push_back(*std::move(one));
  }
  auto result = Comparison(compiled, options, budget, executor).Run();
  if (!result.ok()) return result;
  if (!std::all_of(result->steps.begin(), result->steps.end(), IsPossible)) {
    return absl::InternalError("a simulated step time is not finite");
  }
  return result;
}

Difference MeanDifference(const ComparedStep& step, const ComparedStep& base) {
  return DifferenceOf(step, base,
                      [](const StepSummary& a, const StepSummary& b) {
                        return a.mean_seconds - b.mean_seconds;
                      });
}

Difference P50Difference(const ComparedStep& step, const ComparedStep& base) {
  return QuantileDifference(step, base, kMedian, &StepSummary::p50_seconds);
}

Difference P95Difference(const ComparedStep& step, const ComparedStep& base) {
  return QuantileDifference(step, base, kP95, &StepSummary::p95_seconds);
}

Difference VarianceShare(const ComparedStep& step, const ComparedStep& base) {
  return DifferenceOf(step, base,
                      [](const StepSummary& a, const StepSummary& b) {
                        return b.variance > 0 ? 1 - a.variance / b.variance : 0;
                      });
}

}  // namespace prism::explain
