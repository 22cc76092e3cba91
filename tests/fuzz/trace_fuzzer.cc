// Any bytes as an operator trace: read and replayed, or said why not.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/trace_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  prism::fuzz::CheckTrace(
      std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
