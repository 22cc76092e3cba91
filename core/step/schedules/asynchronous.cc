#include "core/step/schedules/asynchronous.h"

#include <algorithm>
#include <numeric>

#include "core/base/check.h"

namespace prism::step {

int WarmUpSteps(int stages, int microbatches) {
  return (2 * stages + microbatches - 1) / microbatches;
}

ContinuousRun OneForwardOneBackwardRun(int stages, int microbatches,
                                       int steps) {
  PRISM_CHECK(stages >= 1 && microbatches >= 1 && steps >= 2);
  ContinuousRun run;
  run.steps = steps;
  run.microbatches = steps * microbatches + stages - 1;
  run.stage_of.resize(stages);
  std::iota(run.stage_of.begin(), run.stage_of.end(), 0);
  run.order.resize(stages);
  run.updates.resize(stages);
  for (int stage = 0; stage < stages; ++stage) {
    auto& order = run.order[stage];
    const int ahead = stages - stage - 1;
    for (int i = 0; i < ahead; ++i) {
      order.push_back({Phase::kForward, stage, i});
    }
    for (int i = 0; i < steps * microbatches; ++i) {
      order.push_back({Phase::kForward, stage, ahead + i});
      order.push_back({Phase::kBackward, stage, i});
      if ((i + 1) % microbatches == 0) {
        run.updates[stage].push_back(order.size());
      }
    }
  }
  return run;
}

int MostUpdatesCrossed(const ContinuousRun& run, int stage) {
  const auto& updates = run.updates[stage];
  std::vector<int> updates_at_forward(run.microbatches, 0);
  size_t done = 0;
  int most = 0;
  for (size_t i = 0; i < run.order[stage].size(); ++i) {
    while (done < updates.size() && updates[done] <= i) ++done;
    const Operation& op = run.order[stage][i];
    int& at_forward = updates_at_forward[op.microbatch];
    if (op.phase == Phase::kForward) {
      at_forward = static_cast<int>(done);
    } else {
      most = std::max(most, static_cast<int>(done) - at_forward);
    }
  }
  return most;
}

}  // namespace prism::step
