#include "core/trace/learn/step_model.h"

#include <algorithm>
#include <utility>

#include "core/trace/learn/step_sampler.h"

namespace prism::trace {

absl::StatusOr<StepModel> LearnSteps(Observations observed) {
  auto table = TabulateComputes(observed);
  if (!table.ok()) return table.status();
  StepModel model;
  model.observed = std::move(observed);
  model.table = *std::move(table);
  Judge judge(ComputeTests(model.table.shape) + ClosingTests());
  model.computes = LearnComputes(model.table, judge);
  model.closing = LearnClosing(model.observed, model.computes, judge);
  model.findings = judge.findings();
  model.level = judge.level();
  return model;
}

PredictedSteps PredictSteps(const StepModel& model, size_t samples,
                            uint64_t seed) {
  StepSampler sampler(model, seed);
  PredictedSteps steps;
  std::vector<double> work(model.observed.operations.size());
  std::vector<double> ends(work.size());
  for (size_t n = 0; n < samples; ++n) {
    const double delay = sampler.Draw(work);
    const double seconds = model.observed.program.Run(work, ends);
    steps.simulated.push_back(seconds);
    steps.measured.push_back(seconds + delay);
  }
  std::sort(steps.simulated.begin(), steps.simulated.end());
  std::sort(steps.measured.begin(), steps.measured.end());
  return steps;
}

}  // namespace prism::trace
