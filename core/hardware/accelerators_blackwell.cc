// NVIDIA's Blackwell and Blackwell Ultra. Peaks are dense; those of racks are
// a 72nd of the rack's.
#include <array>

#include "core/hardware/accelerator_entries.h"

namespace prism::hardware {
namespace {

constexpr int64_t kRackGpus = 72;

Accelerator B200() {
  return {
      .name = "b200-180gb-sxm",
      .source =
          "NVIDIA Blackwell architecture technical brief, 2024; "
          "DGX B200 data sheet (8x400 Gb/s, 1.44 TB)",
      .architecture = Architecture::kBlackwell,
      .fp32_flops = 80 * kTera,
      .tf32_flops = 1100 * kTera,
      .fp16_flops = 2250 * kTera,
      .bf16_flops = 2250 * kTera,
      .fp8_flops = 4500 * kTera,
      .fp4_flops = 9000 * kTera,
      .memory_bytes = 178 * kGib,
      .memory_bytes_per_second = 8000 * kGiga,
      .processors = 148,
      .node_link_bytes_per_second = 900 * kGiga,
      .network_bytes_per_second = 50 * kGiga,
      .idle_watts = 140,
      .maximum_watts = 1000,
  };
}

// Memory as MLPerf Training 5.1 systems report it (275,040 MiB).
Accelerator B300() {
  Accelerator b300 = B200();
  b300.name = "b300-270gb-sxm";
  b300.source =
      "NVIDIA DGX B300 data sheet, 2025 (8x800 Gb/s); memory as in "
      "MLPerf Training 5.1 system descriptions";
  b300.fp4_flops = 13500 * kTera;
  b300.memory_bytes = 268 * kGib;
  b300.network_bytes_per_second = 100 * kGiga;
  b300.maximum_watts = 1100;
  return b300;
}

Accelerator Gb200() {
  return {
      .name = "gb200-186gb",
      .source = "NVIDIA GB200 NVL72 data sheet, 2024 (per GPU: 1/72)",
      .architecture = Architecture::kBlackwell,
      .fp32_flops = 80 * kTera,
      .tf32_flops = 1250 * kTera,
      .fp16_flops = 2500 * kTera,
      .bf16_flops = 2500 * kTera,
      .fp8_flops = 5000 * kTera,
      .fp4_flops = 10000 * kTera,
      .memory_bytes = 184 * kGib,
      .memory_bytes_per_second = 8000 * kGiga,
      .processors = 152,
      .node_link_bytes_per_second = 900 * kGiga,
      .node_link_gpus = kRackGpus,
      .network_bytes_per_second = 50 * kGiga,
      .idle_watts = 150,
      .maximum_watts = 1200,
  };
}

Accelerator Gb300() {
  Accelerator gb300 = Gb200();
  gb300.name = "gb300-279gb";
  gb300.source =
      "NVIDIA GB300 NVL72 data sheet, 2025 (per GPU: 1/72; 800 Gb/s)";
  gb300.fp4_flops = 15000 * kTera;
  gb300.memory_bytes = 276 * kGib;
  gb300.network_bytes_per_second = 100 * kGiga;
  gb300.maximum_watts = 1400;
  return gb300;
}

}  // namespace

std::span<const Accelerator> BlackwellAccelerators() {
  static const std::array kEntries = {B200(), B300(), Gb200(), Gb300()};
  return kEntries;
}

}  // namespace prism::hardware
