// Any bytes as a profiler trace: they are read, and joined or refused.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/check.h"
#include "core/trace/kineto/joined_trace.h"
#include "core/trace/kineto/rank_reader.h"

namespace {

constexpr size_t kBlock = 101;  // so that events cross the edges of blocks

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  prism::kineto::RankReader reader("fuzz");
  for (size_t at = 0; at < size; at += kBlock)
    reader.Feed(bytes.substr(at, kBlock));
  const auto joined = prism::kineto::Join({reader.Finish()}, {});
  if (!joined.ok()) return 0;
  for (const prism::kineto::JoinedStep& step : joined->steps)
    PRISM_CHECK(step.by_trace[0].sum().total_ns() == step.duration_ns);
  return 0;
}
