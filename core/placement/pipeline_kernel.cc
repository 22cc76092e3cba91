#include "core/placement/pipeline_kernel.h"

// Order matters: foreach_target includes this file once per instruction set.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/placement/pipeline_kernel.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace prism::placement {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::CappedTag<float, kColumns>;

void RunPipeline(const PipelineOperation* operations, size_t count, int stages,
                 const float* slowdown, const float* score, float* clock,
                 float* arrivals) {
  const FloatTag f;
  for (int i = 0; i < stages * kColumns; ++i) clock[i] = 0;
  for (int i = 0; i < kColumns; ++i) arrivals[i] = 0;
  for (size_t k = 0; k < count; ++k) {
    const PipelineOperation& operation = operations[k];
    const auto compute = hn::Set(f, operation.compute);
    const auto network = hn::Set(f, operation.network);
    const auto deviation = hn::Set(f, operation.deviation);
    const auto hop = hn::Set(f, operation.hop);
    const float* factor = slowdown + operation.stage * kColumns;
    const float* arrival = arrivals + operation.receives * kColumns;
    float* own = clock + operation.stage * kColumns;
    float* sent = arrivals + operation.sends * kColumns;
    for (size_t i = 0; i < kColumns; i += hn::Lanes(f)) {
      auto length = hn::MulAdd(hn::LoadU(f, factor + i), compute, network);
      if (score != nullptr) {
        length = hn::MulAdd(hn::LoadU(f, score + k * kColumns + i), deviation,
                            length);
      }
      const auto start =
          hn::Max(hn::LoadU(f, own + i), hn::LoadU(f, arrival + i));
      const auto end = hn::Add(start, length);
      hn::StoreU(end, f, own + i);
      hn::StoreU(hn::Add(end, hop), f, sent + i);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace prism::placement
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace prism::placement {

HWY_EXPORT(RunPipeline);

void RunPipeline(const std::vector<PipelineOperation>& operations, int stages,
                 const float* slowdown, const float* score, float* clock,
                 float* arrivals) {
  HWY_DYNAMIC_DISPATCH(RunPipeline)
  (operations.data(), operations.size(), stages, slowdown, score, clock,
   arrivals);
}

}  // namespace prism::placement
#endif  // HWY_ONCE
