// Which split of the layers over the stages makes the longest stage shortest.
//
// A stage of L layers computes for c L + e: c is the median over stages of
// their time for a layer, e what a stage does beyond that (the loss, the
// embedding). Pure functions.
#ifndef PRISM_CORE_TRACE_REPLAY_STAGE_BALANCE_H_
#define PRISM_CORE_TRACE_REPLAY_STAGE_BALANCE_H_

#include <span>
#include <vector>

namespace prism::trace {

struct StageBalance {
  std::vector<int> layers;      // by stage
  std::vector<double> seconds;  // what each stage then computes for
};

// `seconds`: what the stages compute for now, above 0; `layers`: how many
// layers they have now, from 1. Every stage keeps at least one layer.
StageBalance BalanceLayers(std::span<const double> seconds,
                           std::span<const int> layers);

}  // namespace prism::trace

#endif  // PRISM_CORE_TRACE_REPLAY_STAGE_BALANCE_H_
