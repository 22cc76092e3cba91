#include <algorithm>
#include <array>

#include "core/hardware/accelerator.h"

namespace prism::hardware {
namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;
constexpr double kGib = 1024.0 * 1024 * 1024;

// Fractions: A100 and H100 are fitted to measured matrix products
// (docs/model/hardware.md); V100 takes the A100's, everything newer the H100's.
constexpr double kSustainedAmpere = 0.96;
constexpr double kSustainedHopper = 0.88;
constexpr double kProductMemoryAmpere = 0.47;
constexpr double kProductMemoryHopper = 0.78;

// By name. Peaks are dense (no sparsity). Memory is what the software can
// allocate from, as the driver reports it.
constexpr std::array kCatalogue = {
    Accelerator{
        .name = "a100-40gb-sxm",
        .source = "NVIDIA A100 Tensor Core GPU data sheet, 2021; "
                  "DGX A100 data sheet (8x200 Gb/s)",
        .fp32_flops = 19.5 * kTera,
        .tf32_flops = 156 * kTera,
        .fp16_flops = 312 * kTera,
        .bf16_flops = 312 * kTera,
        .memory_bytes = 39.6 * kGib,
        .memory_bytes_per_second = 1555 * kGiga,
        .processors = 108,
        .sustained_fraction = kSustainedAmpere,
        .product_memory_fraction = kProductMemoryAmpere,
        .node_link_bytes_per_second = 300 * kGiga,
        .network_bytes_per_second = 25 * kGiga,
    },
    Accelerator{
        .name = "a100-80gb-sxm",
        .source = "NVIDIA A100 Tensor Core GPU data sheet, 2021; "
                  "DGX A100 data sheet (8x200 Gb/s)",
        .fp32_flops = 19.5 * kTera,
        .tf32_flops = 156 * kTera,
        .fp16_flops = 312 * kTera,
        .bf16_flops = 312 * kTera,
        .memory_bytes = 79.3 * kGib,
        .memory_bytes_per_second = 2039 * kGiga,
        .processors = 108,
        .sustained_fraction = kSustainedAmpere,
        .product_memory_fraction = kProductMemoryAmpere,
        .node_link_bytes_per_second = 300 * kGiga,
        .network_bytes_per_second = 25 * kGiga,
    },
    Accelerator{
        .name = "b200-180gb-sxm",
        .source = "NVIDIA Blackwell architecture technical brief, 2024; "
                  "DGX B200 data sheet (8x400 Gb/s, 1.44 TB)",
        .fp32_flops = 80 * kTera,
        .tf32_flops = 1100 * kTera,
        .fp16_flops = 2250 * kTera,
        .bf16_flops = 2250 * kTera,
        .fp8_flops = 4500 * kTera,
        .memory_bytes = 178 * kGib,
        .memory_bytes_per_second = 8000 * kGiga,
        .processors = 148,
        .sustained_fraction = kSustainedHopper,
        .product_memory_fraction = kProductMemoryHopper,
        .node_link_bytes_per_second = 900 * kGiga,
        .network_bytes_per_second = 50 * kGiga,
    },
    Accelerator{
        .name = "gb200-186gb",
        .source = "NVIDIA GB200 NVL72 data sheet, 2024 (per GPU: 1/72)",
        .fp32_flops = 80 * kTera,
        .tf32_flops = 1250 * kTera,
        .fp16_flops = 2500 * kTera,
        .bf16_flops = 2500 * kTera,
        .fp8_flops = 5000 * kTera,
        .memory_bytes = 184 * kGib,
        .memory_bytes_per_second = 8000 * kGiga,
        .processors = 148,
        .sustained_fraction = kSustainedHopper,
        .product_memory_fraction = kProductMemoryHopper,
        .node_link_bytes_per_second = 900 * kGiga,
        .node_link_gpus = 72,
        .network_bytes_per_second = 50 * kGiga,
    },
    Accelerator{
        .name = "h100-80gb-sxm",
        .source = "NVIDIA H100 Tensor Core GPU data sheet, 2023; "
                  "DGX H100 data sheet (8x400 Gb/s)",
        .fp32_flops = 67 * kTera,
        .tf32_flops = 494.5 * kTera,
        .fp16_flops = 989.5 * kTera,
        .bf16_flops = 989.5 * kTera,
        .fp8_flops = 1979 * kTera,
        .memory_bytes = 79.2 * kGib,
        .memory_bytes_per_second = 3350 * kGiga,
        .processors = 132,
        .sustained_fraction = kSustainedHopper,
        .product_memory_fraction = kProductMemoryHopper,
        .node_link_bytes_per_second = 450 * kGiga,
        .network_bytes_per_second = 50 * kGiga,
    },
    Accelerator{
        .name = "h200-141gb-sxm",
        .source = "NVIDIA H200 Tensor Core GPU data sheet, 2024; "
                  "DGX H200 data sheet (8x400 Gb/s)",
        .fp32_flops = 67 * kTera,
        .tf32_flops = 494.5 * kTera,
        .fp16_flops = 989.5 * kTera,
        .bf16_flops = 989.5 * kTera,
        .fp8_flops = 1979 * kTera,
        .memory_bytes = 139.8 * kGib,
        .memory_bytes_per_second = 4800 * kGiga,
        .processors = 132,
        .sustained_fraction = kSustainedHopper,
        .product_memory_fraction = kProductMemoryHopper,
        .node_link_bytes_per_second = 450 * kGiga,
        .network_bytes_per_second = 50 * kGiga,
    },
    Accelerator{
        .name = "v100-16gb-sxm",
        .source = "NVIDIA V100 Tensor Core GPU data sheet, 2020; "
                  "DGX-1 data sheet (4x100 Gb/s for 8 GPUs)",
        .fp32_flops = 15.7 * kTera,
        .fp16_flops = 125 * kTera,
        .memory_bytes = 15.8 * kGib,
        .memory_bytes_per_second = 900 * kGiga,
        .processors = 80,
        .sustained_fraction = kSustainedAmpere,
        .product_memory_fraction = kProductMemoryAmpere,
        .node_link_bytes_per_second = 150 * kGiga,
        .network_bytes_per_second = 6.25 * kGiga,
    },
    Accelerator{
        .name = "v100-32gb-sxm",
        .source = "NVIDIA V100 Tensor Core GPU data sheet, 2020; "
                  "DGX-1 data sheet (4x100 Gb/s for 8 GPUs)",
        .fp32_flops = 15.7 * kTera,
        .fp16_flops = 125 * kTera,
        .memory_bytes = 31.7 * kGib,
        .memory_bytes_per_second = 900 * kGiga,
        .processors = 80,
        .sustained_fraction = kSustainedAmpere,
        .product_memory_fraction = kProductMemoryAmpere,
        .node_link_bytes_per_second = 150 * kGiga,
        .network_bytes_per_second = 6.25 * kGiga,
    },
};

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
  }
  return accelerator.fp32_flops;
}

// Where a format without units is computed instead.
NumberFormat Wider(NumberFormat format) {
  switch (format) {
    case NumberFormat::kFp8:
      return NumberFormat::kBf16;
    case NumberFormat::kBf16:
      return NumberFormat::kFp16;
    default:
      return NumberFormat::kFp32;
  }
}

}  // namespace

std::span<const Accelerator> AcceleratorCatalogue() { return kCatalogue; }

const Accelerator* FindAccelerator(std::string_view name) {
  const auto found = std::find_if(
      kCatalogue.begin(), kCatalogue.end(),
      [name](const Accelerator& entry) { return entry.name == name; });
  return found == kCatalogue.end() ? nullptr : &*found;
}

std::string AcceleratorNames() {
  std::string names;
  for (const Accelerator& entry : kCatalogue) {
    if (!names.empty()) names += ", ";
    names += entry.name;
  }
  return names;
}

Peak PeakOf(const Accelerator& accelerator, NumberFormat format) {
  while (OwnPeak(accelerator, format) == 0) format = Wider(format);
  return {OwnPeak(accelerator, format), format};
}

std::string_view NumberFormatName(NumberFormat format) {
  switch (format) {
    case NumberFormat::kFp32:
      return "fp32";
    case NumberFormat::kTf32:
      return "tf32";
    case NumberFormat::kFp16:
      return "fp16";
    case NumberFormat::kBf16:
      return "bf16";
    case NumberFormat::kFp8:
      return "fp8";
  }
  return "fp32";
}

}  // namespace prism::hardware
