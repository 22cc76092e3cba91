#include "core/step/step_graph.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/step/pass_progress.h"

namespace prism::step {
namespace {

absl::Status Broken(const std::string& what) {
  return absl::InvalidArgumentError("step graph: " + what);
}

bool IsIndex(int64_t index, size_t size) {
  return index >= 0 && index < static_cast<int64_t>(size);
}

// Factors are finite and above 0; the list is empty or has `size` of them.
bool AreFactors(const std::vector<double>& factors, size_t size) {
  if (!factors.empty() && factors.size() != size) return false;
  for (double factor : factors) {
    if (!(factor > 0) || !std::isfinite(factor)) return false;
  }
  return true;
}

absl::Status CheckTask(const StepGraph& graph, const Task& task) {
  if (!IsIndex(task.distribution, graph.distributions.size())) {
    return Broken("a task's distribution is out of range");
  }
  if (task.group != kNoGroup && !IsIndex(task.group, graph.groups.size())) {
    return Broken("a task's group is out of range");
  }
  if (!IsIndex(task.stream, graph.streams)) {
    return Broken("a task's stream is out of range");
  }
  if (!IsIndex(task.kind, graph.kinds.size())) {
    return Broken("a task's kind is out of range");
  }
  if (!IsIndex(task.name, graph.names.size())) {
    return Broken("a task's name is out of range");
  }
  for (int back : task.after) {
    if (back < 1) return Broken("a task waits for itself or a later one");
  }
  return absl::OkStatus();
}

// Whether `programs` has one for each virtual stage that has the phase.
bool AreProgramsOf(const StepGraph& graph, int phase,
                   const std::vector<int>& programs) {
  if (programs.empty()) return true;
  if (programs.size() != graph.stage_of.size()) return false;
  for (size_t u = 0; u < programs.size(); ++u) {
    if (graph.program_of[phase][u] == -1) continue;
    if (!IsIndex(programs[u], graph.programs.size())) return false;
  }
  return true;
}

absl::Status CheckPrograms(const StepGraph& graph) {
  for (const Program& program : graph.programs) {
    for (const Segment& segment : program.segments) {
      if (segment.count < 1) return Broken("a segment's count is below 1");
      for (const Task& task : segment.tasks) {
        if (auto status = CheckTask(graph, task); !status.ok()) return status;
      }
    }
  }
  for (int phase = 0; phase < kPhases; ++phase) {
    if (!graph.program_of[phase].empty() &&
        graph.program_of[phase].size() != graph.stage_of.size()) {
      return Broken("program_of has the wrong length");
    }
    for (int program : graph.program_of[phase]) {
      if (program != -1 && !IsIndex(program, graph.programs.size())) {
        return Broken("program_of is out of range");
      }
    }
    for (const auto* list :
         {&graph.first_program_of[phase], &graph.last_program_of[phase],
          &graph.only_program_of[phase]}) {
      if (graph.is_continuous() && !list->empty()) {
        return Broken("a continuous run has first or last programs");
      }
      if (!AreProgramsOf(graph, phase, *list)) {
        return Broken("a first or last program is not one of its phase");
      }
    }
  }
  for (int program : graph.closing) {
    if (!IsIndex(program, graph.programs.size())) {
      return Broken("closing is out of range");
    }
  }
  if (!graph.fetches.empty() && !IsIndex(graph.fetch, graph.programs.size())) {
    return Broken("fetch is out of range");
  }
  return absl::OkStatus();
}

bool Tiles(int stride, int count, int size) {
  return stride >= 1 && count >= 1 &&
         size % (static_cast<int64_t>(stride) * count) == 0;
}

absl::Status CheckGrid(const StepGraph& graph) {
  const RankGrid& grid = graph.grid;
  if (grid.replicas < 1 || grid.stages < 1 || grid.lanes < 1 ||
      graph.microbatches < 1 || graph.streams < 1) {
    return Broken("a size is below 1");
  }
  for (int stage : graph.stage_of) {
    if (!IsIndex(stage, grid.stages)) {
      return Broken("stage_of is out of range");
    }
  }
  for (const Group& group : graph.groups) {
    if (!Tiles(group.lane_stride, group.lane_count, grid.lanes) ||
        !Tiles(group.replica_stride, group.replica_count, grid.replicas)) {
      return Broken("a group does not tile the ranks");
    }
  }
  if (graph.chains < 1 || graph.virtual_stages() % graph.chains != 0 ||
      graph.microbatches % graph.chains != 0) {
    return Broken("chains do not divide virtual stages and micro-batches");
  }
  const size_t stages = grid.stages;
  if (graph.order.size() != stages || graph.closing.size() != stages) {
    return Broken("order or closing does not have one entry per stage");
  }
  return absl::OkStatus();
}

absl::Status CheckHopsAndFactors(const StepGraph& graph) {
  const size_t hops = graph.stage_of.size() - 1;
  if (graph.forward_hop.size() != hops || graph.backward_hop.size() != hops) {
    return Broken("hops do not have one entry per boundary");
  }
  for (const auto* list : {&graph.forward_hop, &graph.backward_hop}) {
    for (int hop : *list) {
      if (!IsIndex(hop, graph.distributions.size())) {
        return Broken("a hop's distribution is out of range");
      }
    }
  }
  if (!IsIndex(graph.hop_kind, graph.kinds.size())) {
    return Broken("hop_kind is out of range");
  }
  if (!(graph.overlap_slowdown >= 1) ||
      !std::isfinite(graph.overlap_slowdown)) {
    return Broken("overlap_slowdown is below 1 or not finite");
  }
  const size_t ranks = graph.grid.ranks();
  if (!AreFactors(graph.slowdown, ranks) ||
      !AreFactors(graph.stage_scale, graph.stage_of.size()) ||
      !AreFactors(graph.hop_factor, hops * graph.grid.replicas)) {
    return Broken("a list of factors has the wrong length or a bad value");
  }
  if (graph.group_factor.size() > graph.groups.size()) {
    return Broken("group_factor has more entries than groups");
  }
  for (const auto& factors : graph.group_factor) {
    if (!AreFactors(factors, ranks)) {
      return Broken("group_factor has the wrong length or a bad value");
    }
  }
  return absl::OkStatus();
}

bool HasProgram(const StepGraph& graph, Phase phase, int virtual_stage) {
  const auto& programs = graph.program_of[static_cast<int>(phase)];
  return !programs.empty() && programs[virtual_stage] != -1;
}

// How far a micro-batch is on a virtual stage before the step and after it,
// for all of them; what is not on its chain is done.
std::vector<PassProgress> ProgressBefore(const StepGraph& graph) {
  std::vector<PassProgress> progress;
  for (int u = 0; u < graph.virtual_stages(); ++u) {
    const PassProgress own = HasProgram(graph, Phase::kForward, u)
                                 ? PassProgress::kNothing
                                 : PassProgress::kForward;
    for (int i = 0; i < graph.microbatches; ++i) {
      const bool belongs = graph.chain_of(i) == u / graph.chain_length();
      progress.push_back(belongs ? own : PassProgress::kDone);
    }
  }
  return progress;
}

bool IsDone(const StepGraph& graph, int virtual_stage, PassProgress progress) {
  const bool ends = HasProgram(graph, Phase::kBackward, virtual_stage) ||
                    HasProgram(graph, Phase::kBackwardInput, virtual_stage);
  return progress == PassProgress::kDone ||
         (!ends && progress == PassProgress::kForward);
}

absl::Status CheckOrder(const StepGraph& graph) {
  const auto microbatches = static_cast<size_t>(graph.microbatches);
  std::vector<PassProgress> progress = ProgressBefore(graph);
  for (size_t stage = 0; stage < graph.order.size(); ++stage) {
    for (const Operation& op : graph.order[stage]) {
      if (!IsIndex(op.virtual_stage, graph.stage_of.size()) ||
          !IsIndex(op.microbatch, microbatches) ||
          graph.stage_of[op.virtual_stage] != static_cast<int>(stage)) {
        return Broken("an order holds an operation of another stage");
      }
      if (!HasProgram(graph, op.phase, op.virtual_stage)) {
        return Broken("an order holds an operation without a program");
      }
      if (!Advance(op.phase,
                   progress[op.virtual_stage * microbatches + op.microbatch])) {
        return Broken(
            "an operation runs twice, before what it needs or on another "
            "chain");
      }
    }
  }
  if (graph.is_continuous()) return absl::OkStatus();
  for (size_t i = 0; i < progress.size(); ++i) {
    if (!IsDone(graph, static_cast<int>(i / microbatches), progress[i])) {
      return Broken("an operation is missing");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFetches(const StepGraph& graph) {
  if (graph.fetches.empty()) return absl::OkStatus();
  if (graph.fetches.size() != graph.order.size()) {
    return Broken("fetches do not have one entry per stage");
  }
  for (size_t stage = 0; stage < graph.order.size(); ++stage) {
    const auto& fetches = graph.fetches[stage];
    if (std::adjacent_find(fetches.begin(), fetches.end(),
                           std::greater_equal<>()) != fetches.end() ||
        (!fetches.empty() && fetches.back() >= graph.order[stage].size())) {
      return Broken(
          "a stage's fetches are not before its operations, in order");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckUpdates(const StepGraph& graph) {
  if (!graph.is_continuous()) return absl::OkStatus();
  if (graph.updates.size() != graph.order.size() || graph.steps() < 2) {
    return Broken("updates do not have two steps and one entry per stage");
  }
  for (size_t stage = 0; stage < graph.order.size(); ++stage) {
    const auto& updates = graph.updates[stage];
    if (updates.size() != graph.updates.front().size() ||
        !std::is_sorted(updates.begin(), updates.end()) ||
        updates.back() != graph.order[stage].size()) {
      return Broken(
          "a stage's updates are not one a step, in order, up to its end");
    }
  }
  return absl::OkStatus();
}

}  // namespace

int StepGraph::add_name(const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  const auto index = static_cast<int>(found - names.begin());
  if (found == names.end()) names.push_back(name);
  return index;
}

absl::Status StepGraph::Validate() const {
  if (stage_of.empty()) return Broken("there are no virtual stages");
  for (auto check : {CheckGrid, CheckPrograms, CheckHopsAndFactors, CheckOrder,
                     CheckUpdates, CheckFetches}) {
    if (auto status = check(*this); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace prism::step
