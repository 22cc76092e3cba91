// Random profiles of steps with data barriers, for tests of the sharded
// method.
#ifndef PRISM_CORE_STEP_COMPOSITION_SHARDED_PROFILES_H_
#define PRISM_CORE_STEP_COMPOSITION_SHARDED_PROFILES_H_

#include <cstdint>

#include "core/step/step_profile.h"

namespace prism::step {

// Draws of ranks and micro-batches that a step of RandomShardedProfile() has
// at most, so that the reference method can answer it.
inline constexpr double kMostShardedDraws = 40000;

// A valid profile with data barriers, determined by `seed`: 1 to 2,048
// replicas of 1 to 8 lanes, alike, with a few slow ranks or with all ranks
// different; laws of every family, narrow and wide, and rare stalls; loads and
// step-wide factors.
StepProfile RandomShardedProfile(uint64_t seed);

// Draws of ranks a step.
double DrawsOf(const StepProfile& profile);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_SHARDED_PROFILES_H_
