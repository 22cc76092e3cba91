// Which ranks of a step a timeline shows, within its limit.
#ifndef PRISM_CORE_STEP_TIMELINE_SELECTION_H_
#define PRISM_CORE_STEP_TIMELINE_SELECTION_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "core/step/compiled_graph.h"

namespace prism::step {

struct SelectedRank {
  int64_t rank = 0;
  bool tasks = false;
  // Operations to record, the closing among them; those beyond are left out.
  int64_t most_operations = std::numeric_limits<int64_t>::max();
};

struct Selection {
  std::vector<SelectedRank> ranks;  // by number
  int64_t ranks_left_out = 0;
  int64_t ranks_without_tasks = 0;
  int64_t operations_left_out = 0;
};

// Of the ranks in `asked` and one of every stage in the replica and lane of
// `last_rank`, those whose operations (and closings) are at most `most_events`
// together: those asked for first, then the stages in their order. The first
// is there in any case, with as many operations as may be. With `tasks` also
// as many ranks' tasks, in the same order, as find room beside all that.
//
// Requires: the ranks exist; most_events is at least 1.
Selection SelectRanks(const CompiledGraph& compiled, int64_t last_rank,
                      const std::vector<int64_t>& asked, bool tasks,
                      int64_t most_events);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_TIMELINE_SELECTION_H_
