#include "core/trace/learn/halves.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "core/stats/fit.h"
#include "core/stats/sample_quantiles.h"
#include "core/trace/learn/step_model.h"

namespace prism::trace {
namespace {

std::vector<double> Sorted(const Observations& observed,
                           double ObservedStep::*seconds) {
  std::vector<double> sorted;
  for (const ObservedStep& step : observed.steps)
    sorted.push_back(step.*seconds);
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

Observations Take(const Observations& observed, std::span<const size_t> steps) {
  Observations taken{observed.sizes, observed.operations, observed.program, {}};
  for (const size_t step : steps) taken.steps.push_back(observed.steps[step]);
  return taken;
}

void AddError(std::span<const double> guess, std::span<const double> truth,
              double weight, HalvesError& error) {
  const double p95 = stats::SortedQuantile(truth, 0.95);
  error.p95 += weight * std::abs(stats::SortedQuantile(guess, 0.95) / p95 - 1);
  error.distance += weight * stats::KolmogorovSmirnovDistance(guess, truth);
}

void AddCheck(const Observations& known, const Observations& unseen,
              std::span<const double> predicted, double ObservedStep::*seconds,
              double weight, HalvesCheck& check) {
  const std::vector<double> truth = Sorted(unseen, seconds);
  AddError(predicted, truth, weight, check.predicted);
  AddError(Sorted(known, seconds), truth, weight, check.known);
}

}  // namespace

absl::StatusOr<HalvesResult> CheckByHalves(const Observations& observed,
                                           const HalvesOptions& options) {
  const size_t count = observed.steps.size();
  if (count < 4) {
    return absl::FailedPreconditionError(
        "four steps are needed to predict one half from the other");
  }
  HalvesResult result;
  std::mt19937_64 random(options.seed);
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  const double weight = 1 / static_cast<double>(options.splits);
  for (size_t split = 0; split < options.splits; ++split) {
    std::shuffle(order.begin(), order.end(), random);
    const std::span<size_t> all(order);
    std::sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count / 2));
    Observations known = Take(observed, all.first(count / 2));
    const Observations unseen = Take(observed, all.subspan(count / 2));
    auto model = LearnSteps(known);
    if (!model.ok()) return model.status();
    const PredictedSteps predicted =
        PredictSteps(*model, options.samples, random());
    AddCheck(known, unseen, predicted.simulated,
             &ObservedStep::replayed_seconds, weight, result.simulated);
    AddCheck(known, unseen, predicted.measured, &ObservedStep::measured_seconds,
             weight, result.measured);
  }
  return result;
}

}  // namespace prism::trace
