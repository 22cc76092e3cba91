// From batches of steps to quantiles and their errors.
#ifndef PRISM_CORE_STEP_COMPOSITION_SHARDED_SUMMARY_H_
#define PRISM_CORE_STEP_COMPOSITION_SHARDED_SUMMARY_H_

#include <array>
#include <vector>

#include "core/step/step_time.h"

namespace prism::step {

// Quantiles of all batches together. Their errors are standard errors: from
// the scatter of the batches' quantiles in units of a plain sample's error,
// half from that at the level, half pooled over all levels, since few batches
// tell little. One batch is taken for a plain sample. Requires: at least one
// batch, none empty, each sorted.
StepTime SummariseBatches(const std::vector<std::vector<double>>& batches);

// How far the quantiles of `batches` are from those of `others`, which pair
// with the first of them: half by the level, half pooled over all levels. 0
// without others.
std::array<double, kQuantileLevels.size()> RootMeanDifference(
    const std::vector<std::vector<double>>& batches,
    const std::vector<std::vector<double>>& others);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SHARDED_SUMMARY_H_
