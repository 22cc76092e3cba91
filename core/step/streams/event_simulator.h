// Profiles with streams simulated rank by rank and event by event, to hold the
// engine against.
//
// Written from the text of docs/step-profile.md, with nothing of the engine but
// the profile's type and the orders of the stages. Slow.
#ifndef PRISM_CORE_STEP_STREAMS_EVENT_SIMULATOR_H_
#define PRISM_CORE_STEP_STREAMS_EVENT_SIMULATOR_H_

#include <random>
#include <vector>

#include "core/step/step_graph.h"
#include "core/step/step_profile.h"

namespace prism::step {

// Milliseconds of one step of `profile`, whose stages run `order`. Draws come
// from `random`; without it each is its stated mean.
double EventStep(const StepProfile& profile, const PipelineOrder& order,
                 std::mt19937_64* random);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_STREAMS_EVENT_SIMULATOR_H_
