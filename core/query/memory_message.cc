#include "core/query/memory_message.h"

#include <string>

#include "core/estimate/memory.h"
#include "core/estimate/memory_verdict.h"

namespace prism::query {
namespace {

using estimate::MemoryFit;
using estimate::MemoryUse;

template <typename Message>
void SetParts(const MemoryUse& use, Message& message) {
  for (const auto& [name, bytes] : use.parts()) {
    auto& part = *message.add_parts();
    part.set_name(std::string(name));
    part.set_bytes(bytes);
  }
}

prism::v1::MemoryFit FitMessage(MemoryFit fit) {
  switch (fit) {
    case MemoryFit::kFits:
      return prism::v1::MEMORY_FIT_FITS;
    case MemoryFit::kTight:
      return prism::v1::MEMORY_FIT_TIGHT;
    case MemoryFit::kDoesNotFit:
      return prism::v1::MEMORY_FIT_DOES_NOT_FIT;
  }
  return prism::v1::MEMORY_FIT_UNSPECIFIED;
}

void SetPeak(const MemoryUse& use, double capacity_bytes,
             prism::v1::Memory& memory) {
  memory.set_peak_bytes_per_gpu(use.total());
  memory.set_allocated_bytes_per_gpu(use.allocated());
  memory.set_capacity_bytes_per_gpu(capacity_bytes);
  memory.set_margin_bytes_per_gpu(capacity_bytes - use.total());
  memory.set_stage(static_cast<uint32_t>(use.stage));
  SetParts(use, memory);
}

}  // namespace

prism::v1::Memory MemoryMessage(const workload::Job& job,
                                double capacity_bytes) {
  prism::v1::Memory memory;
  MemoryUse peak;
  for (const MemoryUse& use : estimate::MemoryModel().Stages(job)) {
    if (use.total() > peak.total()) peak = use;
    auto& message = *memory.add_stages();
    message.set_stage(static_cast<uint32_t>(use.stage));
    message.set_peak_bytes_per_gpu(use.total());
    SetParts(use, message);
  }
  SetPeak(peak, capacity_bytes, memory);
  const MemoryFit fit = estimate::FitOf(peak.total(), capacity_bytes);
  memory.set_fit(FitMessage(fit));
  if (fit != MemoryFit::kFits) {
    memory.set_advice(estimate::MemoryAdvice(job, capacity_bytes));
  }
  return memory;
}

}  // namespace prism::query
