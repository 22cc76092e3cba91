// Any bytes as a step profile: it has a nominal step and a distribution.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/profile_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  prism::fuzz::CheckProfile(prism::fuzz::ReadProfile({data, size}));
  return 0;
}
