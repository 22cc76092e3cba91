// Any bytes as a Chakra execution trace: they are read, and joined or refused.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/base/check.h"
#include "core/trace/chakra/chakra_reader.h"
#include "core/trace/kineto/joined_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  prism::chakra::ChakraReader reader("fuzz");
  reader.Feed({reinterpret_cast<const char*>(data), size});
  prism::chakra::ChakraTrace trace = reader.Finish();
  const auto joined = prism::kineto::Join({std::move(trace.kernels)}, {});
  if (!joined.ok()) return 0;
  PRISM_CHECK(!joined->steps.empty());
  return 0;
}
