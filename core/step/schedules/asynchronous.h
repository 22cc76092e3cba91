// Pipelines whose steps follow each other without a flush.
//
// A stage goes on with the next step's micro-batches while the last ones of
// this step come back, so there is no bubble but what variation makes. What
// one simulates is a run: a few steps of warm-up, then the one that is
// measured. p stages, m micro-batches a step, which are numbered through the
// run; F and B are the times of a stage's forward and backward, C of its
// update.
#ifndef PRISM_CORE_STEP_SCHEDULES_ASYNCHRONOUS_H_
#define PRISM_CORE_STEP_SCHEDULES_ASYNCHRONOUS_H_

#include <cstddef>
#include <vector>

#include "core/step/step_graph.h"

namespace prism::step {

// The part of a continuous StepGraph that a schedule decides; see there.
struct ContinuousRun {
  int steps = 2;
  int microbatches = 1;  // of the whole run
  std::vector<int> stage_of;
  std::vector<std::vector<Operation>> order;
  std::vector<std::vector<size_t>> updates;
  std::vector<std::vector<size_t>> fetches;  // of round-robin alone
};

// Steps before the one that is measured: as many as have 2 p micro-batches, so
// that the pipeline has filled and every stage has felt the slowest.
int WarmUpSteps(int stages, int microbatches);

// One forward, one backward without a flush. Stage s begins with p - s - 1
// forwards; then follow pairs of a forward and a backward for ever, and an
// update after every m backwards. It is the order of PipeDream-2BW (arXiv
// 2006.09503, section 3), which keeps two versions of the weights so that all
// of a step's passes use one, and of PACI (arXiv 2606.07881), which keeps one
// and updates it in place.
//
// Memory of stage s: activations of p - s micro-batches. With constant times
// a step takes m (F + B) + C of the slowest stage; hops of T add 2 (p - 1) T /
// p to each micro-batch where p divides m, because p of them are under way.
//
// Requires: sizes at least 1, steps at least 2.
ContinuousRun OneForwardOneBackwardRun(int stages, int microbatches, int steps);

// Most updates of the stage between a micro-batch's forward and its backward,
// in any step of the run: how many versions of the weights, but one, the two
// would differ by if none were kept. ceil((p - s - 1) / m) on stage s.
int MostUpdatesCrossed(const ContinuousRun& run, int stage);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_SCHEDULES_ASYNCHRONOUS_H_
