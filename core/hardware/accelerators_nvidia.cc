// NVIDIA's accelerators up to Hopper and Ada. Peaks are dense (no sparsity).
// Memory is what the software can allocate from, as the driver reports it.
#include <array>

#include "core/hardware/accelerator_entries.h"

namespace prism::hardware {
namespace {

Accelerator V100(std::string_view name, double memory_gib) {
  return {
      .name = name,
      .source =
          "NVIDIA V100 Tensor Core GPU data sheet, 2020; "
          "DGX-1 data sheet (4x100 Gb/s for 8 GPUs)",
      .architecture = Architecture::kVolta,
      .fp32_flops = 15.7 * kTera,
      .fp16_flops = 125 * kTera,
      .memory_bytes = memory_gib * kGib,
      .memory_bytes_per_second = 900 * kGiga,
      .processors = 80,
      .node_link_bytes_per_second = 150 * kGiga,
      .network_bytes_per_second = 6.25 * kGiga,
      .idle_watts = 40,
      .maximum_watts = 300,
  };
}

Accelerator A100(std::string_view name, double memory_gib, double rate) {
  return {
      .name = name,
      .source =
          "NVIDIA A100 Tensor Core GPU data sheet, 2021; "
          "DGX A100 data sheet (8x200 Gb/s)",
      .architecture = Architecture::kAmpere,
      .fp32_flops = 19.5 * kTera,
      .tf32_flops = 156 * kTera,
      .fp16_flops = 312 * kTera,
      .bf16_flops = 312 * kTera,
      .memory_bytes = memory_gib * kGib,
      .memory_bytes_per_second = rate,
      .processors = 108,
      .node_link_bytes_per_second = 300 * kGiga,
      .network_bytes_per_second = 25 * kGiga,
      .idle_watts = 55,
      .maximum_watts = 400,
  };
}

Accelerator Hopper(std::string_view name, std::string_view source,
                   double memory_gib, double rate) {
  return {
      .name = name,
      .source = source,
      .architecture = Architecture::kHopper,
      .fp32_flops = 67 * kTera,
      .tf32_flops = 494.5 * kTera,
      .fp16_flops = 989.5 * kTera,
      .bf16_flops = 989.5 * kTera,
      .fp8_flops = 1979 * kTera,
      .memory_bytes = memory_gib * kGib,
      .memory_bytes_per_second = rate,
      .processors = 132,
      .node_link_bytes_per_second = 450 * kGiga,
      .network_bytes_per_second = 50 * kGiga,
      .idle_watts = 75,
      .maximum_watts = 700,
  };
}

// With slower memory, under a lower limit of power.
Accelerator H100At500Watts() {
  Accelerator h100 =
      Hopper("h100-96gb-sxm",
             "torchtitan, docs/performance, December 2024 (Grand Teton, "
             "2.4 TB/s, 500 W)",
             95.0, 2400 * kGiga);
  h100.maximum_watts = 500;
  return h100;
}

Accelerator L40s() {
  return {
      .name = "l40s-48gb",
      .source =
          "NVIDIA L40S data sheet, 2023 (PCIe 4 x16); "
          "NVIDIA OVX reference design (200 Gb/s a GPU)",
      .architecture = Architecture::kAda,
      .fp32_flops = 91.6 * kTera,
      .tf32_flops = 183 * kTera,
      .fp16_flops = 362 * kTera,
      .bf16_flops = 362 * kTera,
      .fp8_flops = 733 * kTera,
      .memory_bytes = 44.9 * kGib,
      .memory_bytes_per_second = 864 * kGiga,
      .processors = 142,
      .node_link_bytes_per_second = 32 * kGiga,
      .network_bytes_per_second = 25 * kGiga,
      .idle_watts = 35,
      .maximum_watts = 350,
  };
}

Accelerator Rtx4090() {
  return {
      .name = "rtx-4090-24gb",
      .source =
          "NVIDIA Ada GPU architecture white paper, appendix A, 2022 "
          "(products summed in 32 bit; PCIe 4 x16); network assumed",
      .architecture = Architecture::kAda,
      .fp32_flops = 82.6 * kTera,
      .tf32_flops = 82.6 * kTera,
      .fp16_flops = 165.2 * kTera,
      .bf16_flops = 165.2 * kTera,
      .fp8_flops = 330.3 * kTera,
      .memory_bytes = 23.6 * kGib,
      .memory_bytes_per_second = 1008 * kGiga,
      .processors = 128,
      .node_link_bytes_per_second = 32 * kGiga,
      .network_bytes_per_second = 12.5 * kGiga,
      .idle_watts = 20,
      .maximum_watts = 450,
  };
}

}  // namespace

std::span<const Accelerator> NvidiaAccelerators() {
  static const std::array kEntries = {
      V100("v100-16gb-sxm", 15.8),
      V100("v100-32gb-sxm", 31.7),
      A100("a100-40gb-sxm", 39.6, 1555 * kGiga),
      A100("a100-80gb-sxm", 79.3, 2039 * kGiga),
      Hopper("h100-80gb-sxm",
             "NVIDIA H100 Tensor Core GPU data sheet, 2023; "
             "DGX H100 data sheet (8x400 Gb/s)",
             79.2, 3350 * kGiga),
      Hopper("h200-141gb-sxm",
             "NVIDIA H200 Tensor Core GPU data sheet, 2024; "
             "DGX H200 data sheet (8x400 Gb/s)",
             139.8, 4800 * kGiga),
      H100At500Watts(),
      L40s(),
      Rtx4090(),
  };
  return kEntries;
}

}  // namespace prism::hardware
