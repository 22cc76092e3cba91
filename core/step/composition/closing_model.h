// ClosingModel: what follows a stage's last operation, reduced to laws.
//
// Where the closing starts with a collective over all replicas, a stage ends at
// M + G + O + ...: the latest replica, one draw of each collective per lane,
// and the longest of the ranks' own draws between them.
#ifndef PRISM_CORE_STEP_COMPOSITION_CLOSING_MODEL_H_
#define PRISM_CORE_STEP_COMPOSITION_CLOSING_MODEL_H_

#include <optional>
#include <vector>

#include "core/base/budget.h"
#include "core/step/composition/score_law.h"
#include "core/step/step_graph.h"

namespace prism::step {

// One task of the closing of one stage.
struct ClosingTask {
  FactorClass factor_class = FactorClass::kNetwork;
  bool is_constant = true;
  // By lane, of the longest draw over the replicas that take part; one entry
  // where all lanes are alike.
  std::vector<ScoreLaw> law;
  // At factor 1, the largest over the lanes.
  double mean = 0;

  const ScoreLaw& of_lane(int lane) const {
    return law.size() == 1 ? law[0] : law[lane];
  }
};

struct StageClosing {
  std::vector<ClosingTask> tasks;
  double mean = 0;  // of all tasks, in seconds
};

// One entry per stage; nothing where a closing has another shape. `budget` is
// looked at between lanes; where it is cancelled, there is nothing either.
std::optional<std::vector<StageClosing>> BuildClosingModel(
    const StepGraph& graph,
    const base::Budget& budget = base::UnlimitedBudget());

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_CLOSING_MODEL_H_
