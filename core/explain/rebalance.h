// Work split over pipeline stages so that the longest has as little as can be.
#ifndef PRISM_CORE_EXPLAIN_REBALANCE_H_
#define PRISM_CORE_EXPLAIN_REBALANCE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/step/step_graph.h"

namespace prism::explain {

// A part of a model that lies on one or more stages: a virtual stage or, of two
// chains, one of each.
struct StagePart {
  std::vector<int> stages;   // each holds all of it
  double fixed_seconds = 0;  // of what is no layer
  int64_t fewest_layers = 1;
};

// Layers of each part, `layers` together, so that the longest stage is as short
// as can be: a stage is as long as its parts, with `layer_seconds` a layer,
// times its factor in `slowdown`. Of several splits one whose layers are as
// even as can be. Adds layers one by one where that makes the least longest.
//
// Requires: layers are at least the fewest of all parts together.
std::vector<int64_t> BalancedLayers(const std::vector<StagePart>& parts,
                                    const std::vector<double>& slowdown,
                                    double layer_seconds, int64_t layers);

// Scales of the virtual stages on `stage_of`, with the sum of `scales`, so that
// all stages are as long: in proportion to 1 over their slowdown, and alike
// within a stage.
std::vector<double> BalancedScales(const std::vector<int>& stage_of,
                                   const std::vector<double>& scales,
                                   const std::vector<double>& slowdown);

// The largest slowdown of each stage's ranks.
std::vector<double> SlowdownOfStages(const step::StepGraph& graph);

// Seconds that one micro-batch spends on each virtual stage, both ways, at
// means and unscaled: in tasks whose
// second word, "layer" of "forward.layer.host", is one of `names`, and in all
// others.
struct SecondsOfStages {
  std::vector<double> named, others;
};
SecondsOfStages SplitSeconds(const step::StepGraph& graph,
                             const std::vector<std::string_view>& names);

}  // namespace prism::explain

#endif  // PRISM_CORE_EXPLAIN_REBALANCE_H_
