#include "core/step/timeline/selection.h"

#include <algorithm>
#include <set>

namespace prism::step {
namespace {

// Of one rank of a stage.
struct EventCount {
  int64_t operations = 1;  // the closing
  int64_t tasks = 0;
};

int64_t TasksOf(const Program& program) {
  int64_t tasks = 0;
  for (const Segment& segment : program.segments) {
    tasks += segment.count * static_cast<int64_t>(segment.tasks.size());
  }
  return tasks;
}

std::vector<EventCount> CountByStage(const CompiledGraph& compiled) {
  const StepGraph& graph = *compiled.graph;
  std::vector<EventCount> counts(graph.grid.stages);
  std::vector<int64_t> of_program;
  for (const Program& program : graph.programs) {
    of_program.push_back(TasksOf(program));
  }
  for (const PlannedOperation& planned : compiled.plan.operations) {
    ++counts[planned.stage].operations;
    counts[planned.stage].tasks += of_program[planned.program];
  }
  for (int stage = 0; stage < graph.grid.stages; ++stage) {
    counts[stage].tasks += of_program[graph.closing[stage]];
  }
  return counts;
}

// Asked for or shown in any case, the most wanted first, each once.
std::vector<int64_t> WantedRanks(const RankGrid& grid, int64_t last_rank,
                                 const std::vector<int64_t>& asked) {
  std::vector<int64_t> wanted = asked;
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  const std::set<int64_t> known(wanted.begin(), wanted.end());
  const int64_t lane = last_rank % grid.lanes;
  const int64_t replica = last_rank / grid.lanes / grid.stages;
  for (int64_t stage = 0; stage < grid.stages; ++stage) {
    const int64_t rank = (replica * grid.stages + stage) * grid.lanes + lane;
    if (!known.contains(rank)) wanted.push_back(rank);
  }
  return wanted;
}

}  // namespace

Selection SelectRanks(const CompiledGraph& compiled, int64_t last_rank,
                      const std::vector<int64_t>& asked, bool tasks,
                      int64_t most_events) {
  const RankGrid& grid = compiled.graph->grid;
  const std::vector<EventCount> counts = CountByStage(compiled);
  const auto count_of = [&](int64_t rank) -> const EventCount& {
    return counts[rank / grid.lanes % grid.stages];
  };
  Selection selection;
  int64_t room = most_events;
  for (const int64_t rank : WantedRanks(grid, last_rank, asked)) {
    const int64_t operations = count_of(rank).operations;
    if (selection.ranks.empty() && operations > room) {
      selection.ranks.push_back({.rank = rank, .most_operations = room});
      selection.operations_left_out = operations - room;
      room = 0;
    } else if (operations <= room && selection.ranks_left_out == 0) {
      selection.ranks.push_back({.rank = rank});
      room -= operations;
    } else {
      ++selection.ranks_left_out;
    }
  }
  for (SelectedRank& selected : selection.ranks) {
    if (!tasks) break;
    const int64_t needed = count_of(selected.rank).tasks;
    selected.tasks = needed <= room && selection.ranks_without_tasks == 0;
    if (selected.tasks) {
      room -= needed;
    } else {
      ++selection.ranks_without_tasks;
    }
  }
  std::sort(selection.ranks.begin(), selection.ranks.end(),
            [](const SelectedRank& a, const SelectedRank& b) {
              return a.rank < b.rank;
            });
  return selection;
}

}  // namespace prism::step
