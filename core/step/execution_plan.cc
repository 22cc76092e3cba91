#include "core/step/execution_plan.h"

#include <absl/strings/str_cat.h>

#include <deque>
#include <string>

namespace prism::step {
namespace {

constexpr const char* kPhaseNames[kPhases] = {
    "forward", "backward", "backward input", "backward weight"};

// A micro-batch's operations on a virtual stage by their place in it, which
// numbers their random streams: a backward has the place of its input part,
// because only one of them runs.
constexpr int kPlaces = 3;
constexpr int kPlaceOf[kPhases] = {0, 1, 1, 2};

// Phases of which one operation is the first: a backward needs parameters as
// its input part does; and of which one is the last: it completes gradients as
// the weight part does.
constexpr size_t kFirstOf[kPhases] = {0, 1, 1, 2};
constexpr size_t kLastOf[kPhases] = {0, 1, 2, 1};

// Operations by virtual stage and kLastOf.
std::vector<int> OperationsLeft(const StepGraph& graph) {
  std::vector<int> left(kPhases * size_t(graph.virtual_stages()), 0);
  for (const auto& order : graph.order) {
    for (const Operation& op : order) {
      ++left[size_t(op.virtual_stage) * kPhases +
             kLastOf[static_cast<size_t>(op.phase)]];
    }
  }
  return left;
}

// Slot of what arrived from the same stage.
constexpr int kLocal = -2;

// Runs every stage as far as its arrivals let it, until nothing moves.
class Planner {
 public:
  explicit Planner(const StepGraph& graph)
      : graph_(graph),
        next_(graph.grid.stages, 0),
        next_update_(graph.grid.stages, 0),
        next_fetch_(graph.grid.stages, 0),
        begun_(kPhases * size_t(graph.virtual_stages()), 0),
        left_(OperationsLeft(graph)),
        slot_(2 * size_t(graph.virtual_stages()) * graph.microbatches,
              kAbsent) {
    plan_.ids = static_cast<uint32_t>(kPlaces * graph.virtual_stages() *
                                      graph.microbatches);
  }

  absl::StatusOr<ExecutionPlan> Plan() {
    std::deque<int> runnable;
    for (int stage = 0; stage < graph_.grid.stages; ++stage) {
      runnable.push_back(stage);
    }
    while (!runnable.empty()) {
      const int stage = runnable.front();
      runnable.pop_front();
      RunWhatIsDue(stage);
      while (CanRunNext(stage)) {
        const int receiver = RunNext(stage);
        RunWhatIsDue(stage);
        if (receiver != kAbsent && receiver != stage) {
          runnable.push_back(receiver);
        }
      }
    }
    for (int stage = 0; stage < graph_.grid.stages; ++stage) {
      if (next_[stage] < graph_.order[stage].size()) return Deadlock();
    }
    return std::move(plan_);
  }

 private:
  // Virtual stage whose result `op` waits for, or kAbsent. A backward on the
  // last virtual stage waits for its own forward, which its stage has run.
  int Source(const Operation& op) const {
    if (op.phase == Phase::kForward) return Neighbour(op, -1);
    return SendsGradient(op.phase) ? Neighbour(op, 1) : kAbsent;
  }

  // Virtual stage that waits for `op`, or kAbsent.
  int Target(const Operation& op) const {
    if (op.phase == Phase::kForward) return Neighbour(op, 1);
    return SendsGradient(op.phase) ? Neighbour(op, -1) : kAbsent;
  }

  // The next virtual stage of the chain in a direction, or kAbsent.
  int Neighbour(const Operation& op, int direction) const {
    const int in_chain = op.virtual_stage % graph_.chain_length() + direction;
    return in_chain < 0 || in_chain == graph_.chain_length()
               ? kAbsent
               : op.virtual_stage + direction;
  }

  // Where the arrival for `op` of its phase at `virtual_stage` is noted.
  int& SlotOf(const Operation& op, int virtual_stage) {
    const size_t direction = op.phase == Phase::kForward ? 0 : 1;
    return slot_[(direction * graph_.virtual_stages() + virtual_stage) *
                     graph_.microbatches +
                 op.microbatch];
  }

  bool CanRunNext(int stage) {
    if (next_[stage] == graph_.order[stage].size()) return false;
    const Operation& op = graph_.order[stage][next_[stage]];
    return Source(op) == kAbsent || SlotOf(op, op.virtual_stage) != kAbsent;
  }

  // Plans the updates and the fetch that come before the stage's next
  // operation.
  void RunWhatIsDue(int stage) {
    if (graph_.is_continuous()) {
      const auto& updates = graph_.updates[stage];
      int& step = next_update_[stage];
      for (; step < graph_.steps() && updates[step] == next_[stage]; ++step) {
        Add(PlannedOperation::Role::kUpdate, stage, graph_.closing[stage]);
        plan_.operations.back().step = step;
      }
    }
    if (graph_.fetches.empty()) return;
    const auto& fetches = graph_.fetches[stage];
    size_t& fetch = next_fetch_[stage];
    if (fetch == fetches.size() || fetches[fetch] != next_[stage]) return;
    Add(PlannedOperation::Role::kFetch, stage, graph_.fetch);
    ++fetch;
  }

  void Add(PlannedOperation::Role role, int stage, int program) {
    PlannedOperation& planned = plan_.operations.emplace_back();
    planned.role = role;
    planned.stage = stage;
    planned.program = program;
    planned.id = plan_.ids++;
  }

  int TakeSlot() {
    if (free_.empty()) return plan_.slots++;
    const int slot = free_.back();
    free_.pop_back();
    return slot;
  }

  // The program of `op`, which is its stage's next.
  int NextProgram(const Operation& op) {
    const auto phase = static_cast<size_t>(op.phase);
    const size_t at = size_t(op.virtual_stage) * kPhases;
    const bool first = begun_[at + kFirstOf[phase]]++ == 0;
    const bool last = --left_[at + kLastOf[phase]] == 0;
    const auto& programs = first && last ? graph_.only_program_of[phase]
                           : first       ? graph_.first_program_of[phase]
                           : last        ? graph_.last_program_of[phase]
                                         : graph_.program_of[phase];
    if (!programs.empty()) return programs[op.virtual_stage];
    return graph_.program_of[phase][op.virtual_stage];
  }

  // Returns the stage that can now go on, or kAbsent.
  int RunNext(int stage) {
    const Operation& op = graph_.order[stage][next_[stage]++];
    const int phase = static_cast<int>(op.phase);
    PlannedOperation planned{
        .operation = op,
        .stage = stage,
        .program = NextProgram(op),
        .id = static_cast<uint32_t>(
            (kPlaceOf[phase] * graph_.virtual_stages() + op.virtual_stage) *
                graph_.microbatches +
            op.microbatch)};
    if (Source(op) != kAbsent) Receive(planned);
    const int target = Target(op);
    if (target != kAbsent) Send(target, planned);
    plan_.operations.push_back(planned);
    return target == kAbsent ? kAbsent : graph_.stage_of[target];
  }

  void Receive(PlannedOperation& planned) {
    const int slot = SlotOf(planned.operation, planned.operation.virtual_stage);
    if (slot == kLocal) return;
    planned.receives = slot;
    free_.push_back(slot);
  }

  void Send(int target, PlannedOperation& planned) {
    int& slot = SlotOf(planned.operation, target);
    if (graph_.stage_of[target] == planned.stage) {
      slot = kLocal;
      return;
    }
    const bool forward = planned.operation.phase == Phase::kForward;
    planned.boundary = forward ? planned.operation.virtual_stage : target;
    planned.hop =
        (forward ? graph_.forward_hop : graph_.backward_hop)[planned.boundary];
    planned.sends = slot = TakeSlot();
  }

  absl::Status Deadlock() const {
    std::string stuck;
    for (int stage = 0; stage < graph_.grid.stages; ++stage) {
      if (next_[stage] == graph_.order[stage].size()) continue;
      const Operation& op = graph_.order[stage][next_[stage]];
      absl::StrAppend(&stuck, stuck.empty() ? "" : "; ", "stage ", stage,
                      " before ", kPhaseNames[static_cast<int>(op.phase)],
                      " of micro-batch ", op.microbatch, " on virtual stage ",
                      op.virtual_stage);
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "the stages' orders wait for each other in a circle: ", stuck));
  }

  const StepGraph& graph_;
  std::vector<size_t> next_;  // by stage, index into its order
  // By stage, index into its updates and fetches.
  std::vector<int> next_update_;
  std::vector<size_t> next_fetch_;
  // By virtual stage and phase, as numbered above.
  std::vector<int> begun_, left_;
  std::vector<int> slot_;  // arrivals under way, kAbsent before they are sent
  std::vector<int> free_;
  ExecutionPlan plan_;
};

}  // namespace

absl::StatusOr<ExecutionPlan> PlanExecution(const StepGraph& graph) {
  return Planner(graph).Plan();
}

}  // namespace prism::step
