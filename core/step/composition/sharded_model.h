// ShardedModel: a step of replicas that wait for each other, as laws.
#ifndef PRISM_CORE_STEP_COMPOSITION_SHARDED_MODEL_H_
#define PRISM_CORE_STEP_COMPOSITION_SHARDED_MODEL_H_

#include <memory>
#include <optional>
#include <vector>

#include "core/base/budget.h"
#include "core/step/composition/score_curve.h"
#include "core/step/composition/sharded_barrier.h"
#include "core/step/composition/sharded_load.h"
#include "core/step/composition/sharded_program.h"

namespace prism::step {

// What an item adds to the clocks, whatever the loads.
struct ItemCurves {
  // By ratio node, then by entry (one where lanes are alike).
  std::vector<std::vector<ScoreCurve>> compute;
  // By ratio node: the latest entry of a meeting.
  std::vector<ScoreCurve> latest;
  ScoreCurve network;           // of each lane, one draw
  double network_constant = 0;  // at the step's network factor 1
};

// ReplicaWork as curves.
struct WorkCurves {
  ScoreCurve first_compute, first_network, last_compute, last_network;
  ScoreCurve collectives, latest;
};

// A factor of the whole step and its values.
struct StepFactor {
  const SharedFactor* shared = nullptr;
  ScoreCurve values;
};

// Stretches without meetings in a row, or one with meetings.
struct ShardedItem {
  bool meets = false;
  int stretch = 0;           // of a meeting
  int microbatch = kAbsent;  // of a meeting whose moments the load decides
  std::shared_ptr<const ItemCurves> curves;  // null: the load decides
  std::shared_ptr<const WorkCurves> work;    // where drawn one by one
  // Barriers whose moments the load decides.
  std::vector<StretchRun> loaded;
};

// Immutable and thread-safe.
struct ShardedModel {
  const StepGraph* graph = nullptr;
  ShardedProgram program;
  // Step-wide random factors; constant ones are in the laws.
  std::vector<StepFactor> factors;
  std::shared_ptr<const ReplicaLoads> loads;  // null: none
  // Ratios of network to compute factors that laws are built for; one entry
  // where no barrier mixes them.
  std::vector<double> ratios;
  // [ratio][stretch].
  std::vector<std::vector<std::shared_ptr<const StretchLaw>>> laws;
  std::vector<ShardedItem> items;
  // Lanes that are simulated: 1 where one draw stands for the latest of all.
  int lanes = 1;
  bool lanes_alike = true;
  // Samples that one row of a meeting's draws may serve.
  int meeting_reuse = 1;
  // Deviations of all barriers of a step, added up, in seconds: what tables are
  // wrong by is the same in barriers that are alike.
  double deviations = 0;
};

// Nothing where the graph's structure is outside what the method can bound, or
// the budget is over.
std::optional<ShardedModel> BuildShardedModel(const CompiledGraph& compiled,
                                              const base::Budget& budget);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SHARDED_MODEL_H_
