// Accelerators: what one GPU can do at best, from public data sheets.
//
// Use FindAccelerator() with the name a cluster document gives. Entries are
// constants of the program: pointers to them stay valid for ever, and any
// thread may read them.
#ifndef PRISM_CORE_HARDWARE_ACCELERATOR_H_
#define PRISM_CORE_HARDWARE_ACCELERATOR_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace prism::hardware {

enum class NumberFormat { kFp32, kTf32, kFp16, kBf16, kFp8, kFp4 };
inline constexpr int kNumberFormats = 6;

// Accelerators of one architecture reach about the same shares of their peaks.
enum class Architecture {
  kVolta,
  kAmpere,
  kAda,
  kHopper,
  kBlackwell,
  kCdna2,
  kCdna3,
  kTpu,
  kGaudi,
  kTrainium,
};
inline constexpr int kArchitectures = 10;

struct Accelerator {
  std::string_view name;    // "a100-80gb-sxm"
  std::string_view source;  // public document the figures are from
  Architecture architecture = Architecture::kHopper;

  // Dense peak FLOP/s of matrix products. 0: the format has no units.
  double fp32_flops = 0;
  double tf32_flops = 0;
  double fp16_flops = 0;
  double bf16_flops = 0;
  double fp8_flops = 0;
  double fp4_flops = 0;

  double memory_bytes = 0;
  double memory_bytes_per_second = 0;
  // That tiles of a matrix product are dealt to: streaming multiprocessors,
  // compute units, matrix engines.
  int processors = 1;

  // Links of one GPU in one direction: to the GPUs of its node or rack, and
  // its usual share of the network.
  double node_link_bytes_per_second = 0;
  int64_t node_link_gpus = 0;  // that these links join; 0: those of a node
  double network_bytes_per_second = 0;

  // Watts of the module. Idle is not on data sheets: what monitoring shows of
  // one without a process, to 10%. 0: not published.
  double idle_watts = 0;
  double maximum_watts = 0;
};

// All accelerators, by name.
std::span<const Accelerator> AcceleratorCatalogue();

// The accelerator called `name`, or nullptr.
const Accelerator* FindAccelerator(std::string_view name);

// "a100-40gb-sxm, a100-80gb-sxm, ...": for messages.
std::string AcceleratorNames();

struct Peak {
  double flops_per_second = 0;
  NumberFormat format = NumberFormat::kFp32;  // the one that is computed in
};

// Peak at `format`, or where the accelerator has no units for it at the next
// that can stand in (fp4 -> fp8 -> bf16 <-> fp16 -> fp32; tf32 -> fp32).
Peak PeakOf(const Accelerator& accelerator, NumberFormat format);

// "bf16".
std::string_view NumberFormatName(NumberFormat format);
// "hopper".
std::string_view ArchitectureName(Architecture architecture);

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_ACCELERATOR_H_
