#include "core/step/composition/sharded.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/stats/sample_quantiles.h"
#include "core/step/composition/sharded_model.h"
#include "core/step/composition/sharded_sampler.h"

namespace prism::step {
namespace {

// Independent batches, whose scatter tells the error.
constexpr int kBatches = 8;
constexpr uint64_t kBatchKey = 0x9E3779B97F4A7C15;
constexpr int kBatchSamples = 1024;
// Where lanes are drawn one by one few coordinates are stratified.
constexpr int kLanesBatchSamples = 1280;

int BatchSamples(const ShardedModel& model, const SimulationOptions& options) {
  int64_t samples = model.lanes == 1 ? kBatchSamples : kLanesBatchSamples;
  if (options.samples.has_value()) samples = *options.samples / kBatches;
  return static_cast<int>(
      std::clamp<int64_t>((samples + 31) / 32 * 32, 64, int64_t{1} << 20));
}

// Errors are given at two deviations, and at no less than these shares of a
// plain sample's deviation: room for what the laws approximate, which is more
// where lanes meet or loads are drawn.
constexpr double kDeviations = 2;
constexpr double kLeastShare = 1.2;
constexpr double kLeastShareOfSampled = 2.4;

double LeastShare(const ShardedModel& model) {
  const bool meets =
      std::any_of(model.items.begin(), model.items.end(),
                  [](const ShardedItem& item) { return item.meets; });
  return meets || model.load != nullptr ? kLeastShareOfSampled : kLeastShare;
}

// Quantiles of all samples. The errors come from the scatter of the batches'
// quantiles in units of a plain sample's error: half from that at the level,
// half pooled over all levels, since eight batches alone tell little.
StepTime Summarise(const std::vector<std::vector<double>>& batches,
                   double least_share) {
  StepTime time;
  std::vector<double> all;
  for (const auto& batch : batches) {
    all.insert(all.end(), batch.begin(), batch.end());
  }
  const auto moments = stats::SampleMoments(all);
  time.mean_seconds = moments.mean;
  time.standard_deviation_seconds = moments.standard_deviation;
  std::sort(all.begin(), all.end());
  std::vector<std::vector<double>> sorted = batches;
  for (auto& batch : sorted) std::sort(batch.begin(), batch.end());

  double pooled = 0;
  std::array<double, kQuantileLevels.size()> squares = {};
  for (size_t q = 0; q < kQuantileLevels.size(); ++q) {
    const double p = kQuantileLevels[q];
    time.quantile_seconds[q] = stats::SortedQuantile(all, p);
    const double plain = stats::SortedQuantileError(all, p);
    time.standard_error_seconds[q] = plain;
    if (plain <= 0) continue;
    std::vector<double> quantiles;
    for (const auto& batch : sorted) {
      quantiles.push_back(stats::SortedQuantile(batch, p));
    }
    const double scatter = stats::SampleMoments(quantiles).standard_deviation;
    squares[q] = scatter * scatter / kBatches / (plain * plain);
    pooled += squares[q] / kQuantileLevels.size();
  }
  for (size_t q = 0; q < kQuantileLevels.size(); ++q) {
    const double ratio = std::sqrt((squares[q] + pooled) / 2);
    time.standard_error_seconds[q] *=
        std::max(kDeviations * ratio, least_share);
  }
  time.samples = static_cast<int64_t>(all.size());
  time.method = Method::kAuto;
  return time;
}

}  // namespace

std::optional<absl::StatusOr<StepTime>> SimulateSharded(
    const CompiledGraph& compiled, const SimulationOptions& options,
    const base::Budget& budget, base::Executor& executor) {
  if (!compiled.replicas_interact) return std::nullopt;
  const auto model = BuildShardedModel(compiled, budget);
  if (budget.Cancelled()) return absl::CancelledError("cancelled");
  if (!model.has_value()) return std::nullopt;
  const int samples = BatchSamples(*model, options);
  std::vector<std::vector<double>> batches(kBatches);
  executor.ParallelFor(kBatches, [&](int batch) {
    if (budget.Cancelled()) return;
    ShardedSampler sampler(*model, options.random_key + kBatchKey * (batch + 1),
                           samples);
    batches[batch] = sampler.Run(budget);
  });
  for (const auto& batch : batches) {
    if (batch.empty()) return absl::CancelledError("cancelled");
  }
  return Summarise(batches, LeastShare(*model));
}

}  // namespace prism::step
