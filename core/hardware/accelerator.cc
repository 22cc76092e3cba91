#include "core/hardware/accelerator.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/hardware/accelerator_entries.h"

namespace prism::hardware {
namespace {

double OwnPeak(const Accelerator& accelerator, NumberFormat format) {
  switch (format) {
    case NumberFormat::kFp32:
      return accelerator.fp32_flops;
    case NumberFormat::kTf32:
      return accelerator.tf32_flops;
    case NumberFormat::kFp16:
      return accelerator.fp16_flops;
    case NumberFormat::kBf16:
      return accelerator.bf16_flops;
    case NumberFormat::kFp8:
      return accelerator.fp8_flops;
    case NumberFormat::kFp4:
      return accelerator.fp4_flops;
  }
  return accelerator.fp32_flops;
}

// A format and what stands in for it, best first.
std::span<const NumberFormat> InPlaceOf(NumberFormat format) {
  using enum NumberFormat;
  static constexpr std::array kNarrow = {kFp4, kFp8, kBf16, kFp16, kFp32};
  static constexpr std::array kHalf = {kFp16, kBf16, kFp32};
  static constexpr std::array kWide = {kTf32, kFp32};
  const std::span<const NumberFormat> narrow = kNarrow;
  const std::span<const NumberFormat> wide = kWide;
  switch (format) {
    case kFp4:
      return narrow;
    case kFp8:
      return narrow.subspan(1);
    case kBf16:
      return narrow.subspan(2);
    case kFp16:
      return kHalf;
    case kTf32:
      return wide;
    case kFp32:
      return wide.subspan(1);
  }
  return wide.subspan(1);
}

std::vector<Accelerator> SortedEntries() {
  std::vector<Accelerator> all;
  for (const auto entries :
       {NvidiaAccelerators(), BlackwellAccelerators(), OtherAccelerators()}) {
    all.insert(all.end(), entries.begin(), entries.end());
  }
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return all;
}

}  // namespace

std::span<const Accelerator> AcceleratorCatalogue() {
  static const std::vector<Accelerator> kCatalogue = SortedEntries();
  return kCatalogue;
}

const Accelerator* FindAccelerator(std::string_view name) {
  const auto all = AcceleratorCatalogue();
  const auto found =
      std::lower_bound(all.begin(), all.end(), name,
                       [](const Accelerator& entry, std::string_view n) {
                         return entry.name < n;
                       });
  return found == all.end() || found->name != name ? nullptr : &*found;
}

std::string AcceleratorNames() {
  std::string names;
  for (const Accelerator& entry : AcceleratorCatalogue()) {
    if (!names.empty()) names += ", ";
    names += entry.name;
  }
  return names;
}

Peak PeakOf(const Accelerator& accelerator, NumberFormat format) {
  for (const NumberFormat candidate : InPlaceOf(format)) {
    const double peak = OwnPeak(accelerator, candidate);
    if (peak > 0) return {peak, candidate};
  }
  return {accelerator.fp32_flops, NumberFormat::kFp32};
}

std::string_view NumberFormatName(NumberFormat format) {
  static constexpr std::array<std::string_view, kNumberFormats> kNames = {
      "fp32", "tf32", "fp16", "bf16", "fp8", "fp4"};
  return kNames[static_cast<size_t>(format)];
}

std::string_view ArchitectureName(Architecture architecture) {
  static constexpr std::array<std::string_view, kArchitectures> kNames = {
      "volta", "ampere", "ada", "hopper", "blackwell",
      "cdna2", "cdna3",  "tpu", "gaudi",  "trainium"};
  return kNames[static_cast<size_t>(architecture)];
}

}  // namespace prism::hardware
