#include "core/step/schedules/round_robin.h"

#include "core/base/check.h"

namespace prism::step {

Execution ExecutionAt(int index, int model_stages) {
  if (index < model_stages) return {true, index};
  return {false, 2 * model_stages - 1 - index};
}

ContinuousRun RoundRobinRun(int workers, int chunks, int microbatches,
                            int steps) {
  PRISM_CHECK(workers >= 1 && chunks >= 1 && microbatches >= 1 && steps >= 2);
  const int executions = 2 * workers * chunks;
  ContinuousRun run;
  run.steps = steps;
  run.microbatches = steps * microbatches;
  for (int k = 0; k < executions; ++k) run.stage_of.push_back(k % workers);
  run.order.resize(workers);
  run.updates.resize(workers);
  run.fetches.resize(workers);
  for (int step = 0; step < steps; ++step) {
    const int first = step * microbatches;
    for (int k = 0; k < executions; ++k) {
      auto& order = run.order[k % workers];
      run.fetches[k % workers].push_back(order.size());
      for (int i = first; i < first + microbatches; ++i) {
        order.push_back({Phase::kForward, k, i});
      }
    }
    for (int worker = 0; worker < workers; ++worker) {
      run.updates[worker].push_back(run.order[worker].size());
    }
  }
  return run;
}

}  // namespace prism::step
