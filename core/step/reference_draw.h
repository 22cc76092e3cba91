// Draws for the plain simulators of tests: the laws of docs/step-profile.md
// with the standard library's generators, and nothing of the engine's.
#ifndef PRISM_CORE_STEP_REFERENCE_DRAW_H_
#define PRISM_CORE_STEP_REFERENCE_DRAW_H_

#include <random>

#include "core/stats/distribution.h"

namespace prism::step {

double ReferenceDraw(const stats::Distribution& distribution,
                     std::mt19937_64& generator);

// The mean as the distribution states it.
double ReferenceMean(const stats::Distribution& distribution);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_REFERENCE_DRAW_H_
