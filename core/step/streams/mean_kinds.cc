#include "core/step/streams/mean_kinds.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "core/step/block_simulator.h"
#include "core/step/compiled_graph.h"
#include "core/step/streams/step_kinds.h"

namespace prism::step {
namespace {

// Ends early enough for the answer to be sent.
class AnswerBudget final : public base::Budget {
 public:
  explicit AnswerBudget(const base::Budget& budget) : budget_(budget) {}

  bool Cancelled() const override { return budget_.Cancelled(); }
  absl::Duration Elapsed() const override { return budget_.Elapsed(); }
  absl::Duration Remaining() const override {
    return budget_.Remaining() - absl::Milliseconds(5);
  }

 private:
  const base::Budget& budget_;
};

class KindSampler {
 public:
  KindSampler(const CompiledGraph& compiled, uint64_t random_key)
      : compiled_(compiled),
        replicas_(compiled.graph->grid.replicas),
        simulator_(compiled, random_key, DrawMode::kRandom) {
    simulator_.runner().TrackKinds();
  }

  // Writes steps [first, first + count); false where the budget ended.
  bool Run(int64_t first, int64_t count, const base::Budget& budget,
           StepKinds* steps) {
    elements_.Resize(count * replicas_);
    for (size_t e = 0; e < elements_.count; ++e) {
      elements_.replica[e] = e % replicas_;
      elements_.sample[e] = first + e / replicas_;
    }
    if (!simulator_.RunOperations(elements_, true, budget)) return false;
    simulator_.RunClosing();
    for (int64_t i = 0; i < count; ++i) {
      steps[i] = TakeStepKinds(*compiled_.graph, elements_, i * replicas_,
                               replicas_, simulator_);
    }
    return true;
  }

 private:
  const CompiledGraph& compiled_;
  const size_t replicas_;
  BlockSimulator simulator_;
  Elements elements_;
};

// Empty where the budget ended.
std::vector<StepKinds> SampleKinds(const CompiledGraph& compiled,
                                   uint64_t random_key, int64_t samples,
                                   const base::Budget& budget,
                                   base::Executor& executor) {
  const int64_t chunk = std::max<int64_t>(
      1, static_cast<int64_t>(BlockSimulator::PreferredElements(compiled)) /
             compiled.graph->grid.replicas);
  std::vector<StepKinds> steps(samples);
  std::atomic<int64_t> next{0};
  std::atomic<bool> complete{true};
  executor.ParallelFor(executor.concurrency(), [&](int) {
    KindSampler sampler(compiled, random_key);
    for (int64_t first = chunk * next++; first < samples && complete;
         first = chunk * next++) {
      const int64_t count = std::min(chunk, samples - first);
      if (!sampler.Run(first, count, budget, &steps[first])) complete = false;
    }
  });
  if (!complete || budget.Remaining() <= absl::ZeroDuration()) steps.clear();
  return steps;
}

StepKinds MeanOf(const std::vector<StepKinds>& steps) {
  const double share = 1.0 / static_cast<double>(steps.size());
  StepKinds mean;
  mean.kinds.resize(steps.front().kinds.size());
  for (const StepKinds& step : steps) {
    mean.seconds += step.seconds * share;
    mean.bubble += step.bubble * share;
    for (size_t kind = 0; kind < mean.kinds.size(); ++kind) {
      mean.kinds[kind].spent += step.kinds[kind].spent * share;
      mean.kinds[kind].busy += step.kinds[kind].busy * share;
    }
  }
  return mean;
}

}  // namespace

absl::StatusOr<std::optional<KindTimes>> SimulateMeanKinds(
    const StepGraph& graph, uint64_t random_key, int64_t samples,
    const base::Budget& budget, base::Executor& executor) {
  const auto compiled = Compile(graph);
  if (!compiled.ok()) return compiled.status();
  if (!compiled->has_streams) return std::optional<KindTimes>();
  const std::vector<StepKinds> steps =
      SampleKinds(*compiled, random_key, std::min(samples, kMostKindSamples),
                  AnswerBudget(budget), executor);
  if (steps.empty()) return std::optional<KindTimes>();
  return std::optional<KindTimes>(NamedKinds(graph, MeanOf(steps)));
}

}  // namespace prism::step
