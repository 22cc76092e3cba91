// Bytes as a step profile, for fuzzing the simulation.
#ifndef PRISM_TESTS_FUZZ_PROFILE_INPUT_H_
#define PRISM_TESTS_FUZZ_PROFILE_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/step/step_profile.h"

namespace prism::fuzz {

// A valid profile, whatever the bytes are; all choices are first ones where
// they end. A step has at most a few thousand draws.
step::StepProfile ReadProfile(std::span<const uint8_t> bytes);

// Asks for the nominal step and for the distribution by the structured
// method. Ends the process where a number is not one or quantiles fall.
void CheckProfile(const step::StepProfile& profile);

}  // namespace prism::fuzz

#endif  // PRISM_TESTS_FUZZ_PROFILE_INPUT_H_
