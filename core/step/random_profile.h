// Random step profiles for property tests.
#ifndef PRISM_CORE_STEP_RANDOM_PROFILE_H_
#define PRISM_CORE_STEP_RANDOM_PROFILE_H_

#include <cstdint>

#include "core/step/step_profile.h"

namespace prism::step {

// A valid profile of at most 27 ranks and 12 micro-batches, determined by
// `seed`. Seeds 0 to 39 cover every kind of distribution, schedule,
// synchronisation, shared factor, slowdown and stage scale many times.
StepProfile RandomProfile(uint64_t seed);

// One whose lanes meet at the end of every operation and whose draws vary by a
// quarter of that: what the structured method can nearly always answer.
StepProfile RandomSteadyProfile(uint64_t seed);

// RandomProfile(seed) with communication beside computation: gathers and
// scatters of whole or of sharded data groups, once or in every operation, up
// to 4 runs ahead, reductions between copies, collectives that overlap, and
// computation slowed by what runs beside it.
StepProfile RandomStreamProfile(uint64_t seed);

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_RANDOM_PROFILE_H_
