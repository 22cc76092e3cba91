// ShardedProgram: a step whose replicas wait for each other, as the stretches
// between one barrier of all replicas and the next.
//
// After a barrier the clocks of a lane are equal in all replicas, so a step is
// a list of stretches that start from as many clocks as there are lanes. Most
// stretches only add to each lane's clock; those in which the lanes of a
// replica meet mix them.
#ifndef PRISM_CORE_STEP_COMPOSITION_SHARDED_PROGRAM_H_
#define PRISM_CORE_STEP_COMPOSITION_SHARDED_PROGRAM_H_

#include <optional>
#include <vector>

#include "core/base/budget.h"
#include "core/step/compiled_graph.h"

namespace prism::step {

// `count` draws of one rank, one after another.
struct OwnDraw {
  int distribution = 0;
  FactorClass factor_class = FactorClass::kCompute;
  double count = 1;

  bool operator==(const OwnDraw&) const = default;
};

using LaneWork = std::vector<OwnDraw>;

// All lanes of a replica do their work, wait for each other and share one draw
// of a collective; `count` times.
struct LaneMeeting {
  LaneWork work;
  int collective = 0;  // distribution
  double count = 1;

  bool operator==(const LaneMeeting&) const = default;
};

// From one barrier to the next: meetings, work of each lane, the barrier.
struct Stretch {
  // The first has count 1: it starts from unequal clocks.
  std::vector<LaneMeeting> meetings;
  LaneWork work;
  int collective = kAbsent;  // distribution; kAbsent: the end of the step

  bool operator==(const Stretch&) const = default;
};

struct StretchRun {
  int stretch = 0;           // index into ShardedProgram::stretches
  int microbatch = kAbsent;  // whose load it bears
  double count = 1;          // above 1 only without meetings

  bool operator==(const StretchRun&) const = default;
};

struct ShardedProgram {
  std::vector<Stretch> stretches;  // each different
  std::vector<StretchRun> runs;    // in the order of the step
};

// Nothing where the graph has more than one stage, other groups than lanes of
// a replica and replicas of a lane, path factors, or more than `most_meetings`
// stretches with meetings; or where the budget is over.
std::optional<ShardedProgram> CutAtBarriers(const CompiledGraph& compiled,
                                            int most_meetings,
                                            const base::Budget& budget);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SHARDED_PROGRAM_H_
