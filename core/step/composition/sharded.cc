#include "core/step/composition/sharded.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/step/composition/sharded_budget.h"
#include "core/step/composition/sharded_model.h"
#include "core/step/composition/sharded_sampler.h"
#include "core/step/composition/sharded_summary.h"

namespace prism::step {
namespace {

// Independent batches, whose scatter tells the error.
constexpr int kBatches = 8;
constexpr uint64_t kBatchKey = 0x9E3779B97F4A7C15;
constexpr int kBatchSamples = 1024;
// Where lanes are drawn one by one few coordinates are stratified.
constexpr int kLanesBatchSamples = 1280;
// A first part of each batch, which tells how long the rest takes.
constexpr int kFirstSamples = 128;
// Samples come in whole vectors; more than this do not help, because what is
// left is the error of the laws.
constexpr int kSamplesStep = 32;
constexpr int kMostBatchSamples = 1 << 16;

// Student's factor for 95% from eight batches: of chance, what is stated.
constexpr double kDeviations = 2.36;
// What the tables of a law are wrong by, as a share of its deviation, at most:
// judged; sharded_law_test holds maxima and sums to it.
constexpr double kTableError = 0.003;

// Where lanes meet, two constructions are at hand: entries with their own laws,
// and the latest of them with its law. They err to opposite sides; the answer
// is a third of the way from the first to the second: judged by trials of 0,
// 0.3 and 1, not derived.
constexpr double kLatestWeight = 1.0 / 3;
// Batches for which the first is computed beside, on the same draws.
constexpr int kCompared = 2;

class Sharded {
 public:
  Sharded(const ShardedModel& model, const SimulationOptions& options,
          const base::Budget& budget, base::Executor& executor)
      : model_(model), budget_(budget), executor_(executor) {
    const int usual = model.lanes == 1 ? kBatchSamples : kLanesBatchSamples;
    const int64_t samples = (options.samples.value_or(usual * kBatches) +
                             kBatches * kSamplesStep - 1) /
                            (kBatches * kSamplesStep) * kSamplesStep;
    wanted_ = static_cast<int>(std::min<int64_t>(samples, kMostBatchSamples));
    for (int batch = 0; batch < kBatches; ++batch) {
      samplers_.emplace_back(model, KeyOf(options, batch), kLatestWeight);
    }
    for (int batch = 0; DrawsEntries() && batch < kCompared; ++batch) {
      samplers_.emplace_back(model, KeyOf(options, batch), 0);
    }
  }

  absl::StatusOr<StepTime> Run() {
    const absl::Duration start = budget_.Elapsed();
    while (samples_ < wanted_) {
      const int round = samples_ == 0 ? std::min(kFirstSamples, wanted_)
                                      : Affordable(wanted_ - samples_,
                                                   budget_.Elapsed() - start);
      if (round < kSamplesStep || !Extend(round)) {
        if (budget_.Cancelled()) return OverStatus(budget_);
        reduced_ = true;
        break;
      }
      samples_ += round;
    }
    return Answer();
  }

 private:
  static uint64_t KeyOf(const SimulationOptions& options, int batch) {
    return options.random_key + kBatchKey * (batch + 1);
  }

  // Whether there are entries with laws of their own.
  bool DrawsEntries() const {
    return std::any_of(model_.items.begin(), model_.items.end(),
                       [](const ShardedItem& item) {
                         return item.meets && item.curves != nullptr;
                       });
  }

  // Whether all batches have the round.
  bool Extend(int round) {
    const int count = static_cast<int>(samplers_.size());
    std::vector<char> done(count);
    executor_.ParallelFor(count, [&](int batch) {
      done[batch] = samplers_[batch].Extend(round, budget_) ? 1 : 0;
    });
    return std::all_of(done.begin(), done.end(), [](char d) { return d != 0; });
  }

  // Of `left` samples of each batch, as many as one round may have and as the
  // deadline leaves time for. `spent` went into those so far.
  int Affordable(int left, absl::Duration spent) {
    const double rounds = absl::FDivDuration(TimeLeft(budget_), spent);
    const double affordable = std::max(0.0, samples_ * rounds);
    int round = std::min(left, ShardedSampler::kMostRoundSamples);
    if (spent > absl::ZeroDuration() && affordable < round) {
      round = static_cast<int>(affordable) / kSamplesStep * kSamplesStep;
    }
    return round;
  }

  absl::StatusOr<StepTime> Answer() {
    std::vector<std::vector<double>> batches, compared;
    for (size_t i = 0; i < samplers_.size(); ++i) {
      if (budget_.Cancelled()) return OverStatus(budget_);
      std::vector<double> steps = samplers_[i].steps();
      // In the first round some batches may be done and others not.
      if (steps.empty()) continue;
      if (samples_ > 0) steps.resize(samples_);
      std::sort(steps.begin(), steps.end());
      (i < kBatches ? batches : compared).push_back(std::move(steps));
    }
    if (batches.empty()) return OverStatus(budget_);
    StepTime time = SummariseBatches(batches);
    const double tables = kTableError * model_.deviations;
    const auto dependence = RootMeanDifference(batches, compared);
    for (size_t q = 0; q < kQuantileLevels.size(); ++q) {
      double& error = time.standard_error_seconds[q];
      error = std::hypot(kDeviations * error, tables, dependence[q]);
    }
    time.method = Method::kAuto;
    time.quality = reduced_ ? Quality::kReduced : Quality::kExact;
    return time;
  }

  const ShardedModel& model_;
  const base::Budget& budget_;
  base::Executor& executor_;
  std::vector<ShardedSampler> samplers_;
  int wanted_ = 0;   // of each batch
  int samples_ = 0;  // that all batches have
  bool reduced_ = false;
};

}  // namespace

std::optional<absl::StatusOr<StepTime>> SimulateSharded(
    const CompiledGraph& compiled, const SimulationOptions& options,
    const base::Budget& budget, base::Executor& executor) {
  if (!compiled.replicas_interact) return std::nullopt;
  const auto model = BuildShardedModel(compiled, budget);
  if (IsOver(budget)) return OverStatus(budget);
  if (!model.has_value()) return std::nullopt;
  return Sharded(*model, options, budget, executor).Run();
}

}  // namespace prism::step
