// Accelerators of AMD, Google, Intel and Amazon. Peaks are dense.
#include <array>

#include "core/hardware/accelerator_entries.h"

namespace prism::hardware {
namespace {

// One module of two dies; software sees two devices of half of everything.
Accelerator Mi250x() {
  return {
      .name = "mi250x-128gb",
      .source =
          "AMD Instinct MI250X data sheet, 2021; OLCF Frontier user "
          "guide (200 Gb/s a module)",
      .architecture = Architecture::kCdna2,
      .fp32_flops = 95.7 * kTera,
      .fp16_flops = 383 * kTera,
      .bf16_flops = 383 * kTera,
      .memory_bytes = 127.9 * kGib,
      .memory_bytes_per_second = 3276 * kGiga,
      .processors = 220,
      .node_link_bytes_per_second = 400 * kGiga,
      .network_bytes_per_second = 25 * kGiga,
      .idle_watts = 90,
      .maximum_watts = 560,
  };
}

Accelerator Cdna3(std::string_view name, std::string_view source, double gib,
                  double rate, double watts) {
  return {
      .name = name,
      .source = source,
      .architecture = Architecture::kCdna3,
      .fp32_flops = 163.4 * kTera,
      .tf32_flops = 653.7 * kTera,
      .fp16_flops = 1307.4 * kTera,
      .bf16_flops = 1307.4 * kTera,
      .fp8_flops = 2614.9 * kTera,
      .memory_bytes = gib * kGib,
      .memory_bytes_per_second = rate,
      .processors = 304,
      .node_link_bytes_per_second = 448 * kGiga,
      .network_bytes_per_second = 50 * kGiga,
      .idle_watts = 140,
      .maximum_watts = watts,
  };
}

// Its units multiply in bf16; wider products take three passes, or six for
// fp32. Links of the torus in one direction, over a slice of `gpus` chips.
Accelerator Tpu(std::string_view name, std::string_view source, double bf16,
                double gib, double rate, double links, int64_t gpus) {
  return {
      .name = name,
      .source = source,
      .architecture = Architecture::kTpu,
      .fp32_flops = bf16 / 6,
      .tf32_flops = bf16 / 3,
      .bf16_flops = bf16,
      .memory_bytes = gib * kGib,
      .memory_bytes_per_second = rate,
      .processors = 8,
      .node_link_bytes_per_second = links,
      .node_link_gpus = gpus,
      .network_bytes_per_second = 12.5 * kGiga,
  };
}

Accelerator TpuV4() {
  Accelerator tpu =
      Tpu("tpu-v4", "Google Cloud TPU v4 documentation (power: 90/170/192 W)",
          275 * kTera, 31.2, 1200 * kGiga, 300 * kGiga, 4096);
  tpu.idle_watts = 90;
  tpu.maximum_watts = 192;
  return tpu;
}

Accelerator TpuV5e() {
  Accelerator tpu = Tpu("tpu-v5e", "Google Cloud TPU v5e documentation",
                        197 * kTera, 15.7, 819 * kGiga, 200 * kGiga, 256);
  tpu.processors = 4;
  return tpu;
}

// 32-bit products run on the vector engines.
Accelerator Gaudi2() {
  return {
      .name = "gaudi2-96gb",
      .source =
          "Intel Gaudi 3 AI accelerator white paper, 2024 (comparison "
          "with Gaudi 2; 21 and 3 of 24 links of 100 Gb/s)",
      .architecture = Architecture::kGaudi,
      .fp32_flops = 5.5 * kTera,
      .fp16_flops = 432 * kTera,
      .bf16_flops = 432 * kTera,
      .fp8_flops = 865 * kTera,
      .memory_bytes = 94.6 * kGib,
      .memory_bytes_per_second = 2460 * kGiga,
      .processors = 2,
      .node_link_bytes_per_second = 262.5 * kGiga,
      .network_bytes_per_second = 37.5 * kGiga,
      .idle_watts = 100,
      .maximum_watts = 600,
  };
}

Accelerator Gaudi3() {
  Accelerator gaudi3 = Gaudi2();
  gaudi3.name = "gaudi3-128gb";
  gaudi3.source =
      "Intel Gaudi 3 AI accelerator white paper, 2024 (21 and 3 of 24 links "
      "of 200 Gb/s)";
  gaudi3.fp32_flops = 14.3 * kTera;
  gaudi3.fp16_flops = 1835 * kTera;
  gaudi3.bf16_flops = 1835 * kTera;
  gaudi3.fp8_flops = 1835 * kTera;
  gaudi3.memory_bytes = 126 * kGib;
  gaudi3.memory_bytes_per_second = 3700 * kGiga;
  gaudi3.processors = 8;
  gaudi3.node_link_bytes_per_second = 525 * kGiga;
  gaudi3.network_bytes_per_second = 75 * kGiga;
  gaudi3.idle_watts = 150;
  gaudi3.maximum_watts = 900;
  return gaudi3;
}

Accelerator Trainium2() {
  return {
      .name = "trainium2-96gb",
      .source =
          "AWS Neuron documentation, Trainium2 architecture; Amazon EC2 "
          "Trn2 instances (16 chips, 3.2 Tb/s)",
      .architecture = Architecture::kTrainium,
      .fp32_flops = 181 * kTera,
      .tf32_flops = 667 * kTera,
      .fp16_flops = 667 * kTera,
      .bf16_flops = 667 * kTera,
      .fp8_flops = 1299 * kTera,
      .memory_bytes = 95 * kGib,
      .memory_bytes_per_second = 2900 * kGiga,
      .processors = 8,
      .node_link_bytes_per_second = 640 * kGiga,
      .node_link_gpus = 16,
      .network_bytes_per_second = 25 * kGiga,
  };
}

}  // namespace

std::span<const Accelerator> OtherAccelerators() {
  static const std::array kEntries = {
      Mi250x(),
      Cdna3("mi300x-192gb", "AMD Instinct MI300X data sheet, 2023", 191.5,
            5300 * kGiga, 750),
      Cdna3("mi325x-256gb", "AMD Instinct MI325X data sheet, 2024", 255.5,
            6000 * kGiga, 1000),
      TpuV4(),
      TpuV5e(),
      Tpu("tpu-v5p", "Google Cloud TPU v5p documentation", 459 * kTera, 95,
          2765 * kGiga, 600 * kGiga, 8960),
      Gaudi2(),
      Gaudi3(),
      Trainium2(),
  };
  return kEntries;
}

}  // namespace prism::hardware
