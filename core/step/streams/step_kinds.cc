#include "core/step/streams/step_kinds.h"

#include <algorithm>

namespace prism::step {
namespace {

struct LastRow {
  int stage = 0;
  size_t row = 0;
  double end = 0;
};

LastRow FindLast(const StepGraph& graph, const Elements& elements, size_t first,
                 size_t count, BlockSimulator& simulator) {
  LastRow last;
  for (int stage = 0; stage < graph.grid.stages; ++stage) {
    for (int lane = 0; lane < graph.grid.lanes; ++lane) {
      const size_t begin = lane * elements.stride() + first;
      for (size_t row = begin; row < begin + count; ++row) {
        const double end = simulator.clock(stage)[row];
        if (end > last.end) last = {stage, row, end};
      }
    }
  }
  return last;
}

// When the last rank began the step; 0 unless steps follow each other.
double LatestBegin(const StepGraph& graph, const Elements& elements,
                   size_t first, size_t count, BlockSimulator& simulator) {
  double latest = 0;
  if (!graph.is_continuous()) return latest;
  for (int stage = 0; stage < graph.grid.stages; ++stage) {
    for (int lane = 0; lane < graph.grid.lanes; ++lane) {
      const double* begin =
          simulator.begin(stage) + lane * elements.stride() + first;
      latest = std::max(latest, *std::max_element(begin, begin + count));
    }
  }
  return latest;
}

}  // namespace

StepKinds TakeStepKinds(const StepGraph& graph, const Elements& elements,
                        size_t first, size_t count, BlockSimulator& simulator) {
  const LastRow last = FindLast(graph, elements, first, count, simulator);
  StepKinds step;
  step.seconds =
      last.end - LatestBegin(graph, elements, first, count, simulator);
  double spent = 0;
  for (size_t kind = 0; kind < graph.kinds.size(); ++kind) {
    step.kinds.push_back(
        simulator.runner().ledger().At(last.stage, kind, last.row));
    spent += step.kinds.back().spent;
  }
  // In a continuous run the rank may have begun its step before the last did.
  if (spent > step.seconds) {
    for (KindSeconds& kind : step.kinds) kind.spent *= step.seconds / spent;
  }
  step.bubble = std::max(0.0, step.seconds - spent);
  return step;
}

KindTimes NamedKinds(const StepGraph& graph, const StepKinds& step) {
  KindTimes times;
  for (size_t kind = 0; kind < graph.kinds.size(); ++kind) {
    times.by_kind[graph.kinds[kind]] += step.kinds[kind].spent;
    times.busy_by_kind[graph.kinds[kind]] += step.kinds[kind].busy;
  }
  times.by_kind["bubble"] += step.bubble;
  return times;
}

}  // namespace prism::step
