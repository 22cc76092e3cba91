#include "core/step/compiled_graph.h"

#include <algorithm>
#include <utility>

namespace prism::step {
namespace {

bool IsChain(const Program& program) {
  for (const Segment& segment : program.segments) {
    for (const Task& task : segment.tasks) {
      if (task.stream != 0 || task.detached ||
          task.after != std::vector<int>{1}) {
        return false;
      }
    }
  }
  return true;
}

bool SpansReplicas(const StepGraph& graph, const Program& program) {
  for (const Segment& segment : program.segments) {
    for (const Task& task : segment.tasks) {
      if (task.group != kNoGroup && graph.groups[task.group].spans_replicas()) {
        return true;
      }
    }
  }
  return false;
}

size_t StreamRows(const StepGraph& graph) {
  int64_t ends = 0;
  for (const Program& program : graph.programs) {
    ends = std::max(ends, FurthestAwaited(program) + 1);
  }
  return static_cast<size_t>(int64_t{graph.grid.stages} * graph.streams + ends);
}

}  // namespace

int64_t FurthestAwaited(const Program& program) {
  int64_t furthest = 1;
  for (const Segment& segment : program.segments) {
    for (const Task& task : segment.tasks) {
      for (int64_t back : task.after) furthest = std::max(furthest, back);
    }
  }
  return furthest;
}

const stats::Sampler& SamplerList::operator[](size_t index) const {
  std::call_once(state_->once, [this] {
    for (const stats::Distribution* distribution : state_->distributions) {
      state_->samplers.emplace_back(*distribution);
    }
  });
  return state_->samplers[index];
}

absl::StatusOr<CompiledGraph> Compile(const StepGraph& graph) {
  if (auto status = graph.Validate(); !status.ok()) return status;
  auto plan = PlanExecution(graph);
  if (!plan.ok()) return plan.status();
  CompiledGraph compiled;
  compiled.graph = &graph;
  compiled.plan = *std::move(plan);
  std::vector<const stats::Distribution*> distributions, factors;
  for (const auto& distribution : graph.distributions) {
    distributions.push_back(&distribution);
  }
  for (const SharedFactor& factor : graph.shared_factors) {
    factors.push_back(&factor.distribution);
  }
  compiled.samplers = SamplerList(std::move(distributions));
  compiled.factor_samplers = SamplerList(std::move(factors));
  for (const Program& program : graph.programs) {
    compiled.is_chain.push_back(IsChain(program));
    compiled.has_streams |= !compiled.is_chain.back();
  }
  for (int phase = 0; phase < kPhases; ++phase) {
    compiled.has_streams |= !graph.first_program_of[phase].empty() ||
                            !graph.last_program_of[phase].empty() ||
                            !graph.only_program_of[phase].empty();
  }
  // The steps of a run are simulated together.
  compiled.replicas_interact = graph.is_continuous();
  if (compiled.has_streams) compiled.stream_rows = StreamRows(graph);
  for (const PlannedOperation& planned : compiled.plan.operations) {
    if (SpansReplicas(graph, graph.programs[planned.program])) {
      compiled.replicas_interact = true;
      break;
    }
  }
  return compiled;
}

double DrawsPerStep(const CompiledGraph& compiled) {
  double draws = 0;  // of one lane
  for (const PlannedOperation& planned : compiled.plan.operations) {
    const Program& program = compiled.graph->programs[planned.program];
    for (const Segment& segment : program.segments) {
      draws += static_cast<double>(segment.count) *
               static_cast<double>(segment.tasks.size());
    }
  }
  const RankGrid& grid = compiled.graph->grid;
  return std::max(draws, 1.0) * grid.replicas * grid.lanes;
}

}  // namespace prism::step
