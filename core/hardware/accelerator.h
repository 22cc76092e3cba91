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

enum class NumberFormat { kFp32, kTf32, kFp16, kBf16, kFp8 };

struct Accelerator {
  std::string_view name;    // "a100-80gb-sxm"
  std::string_view source;  // public document the figures are from

  // Dense peak FLOP/s of matrix products. 0: the format has no units.
  double fp32_flops = 0;
  double tf32_flops = 0;
  double fp16_flops = 0;
  double bf16_flops = 0;
  double fp8_flops = 0;

  double memory_bytes = 0;
  double memory_bytes_per_second = 0;
  int processors = 1;  // streaming multiprocessors

  // Fraction of peak that an endless matrix product sustains, in (0, 1].
  double sustained_fraction = 0.9;
  // Fraction of the memory bandwidth that matrix products bound by memory
  // reach, in (0, 1].
  double product_memory_fraction = 0.6;

  // Links of one GPU in one direction: to the GPUs of its node or rack, and
  // its usual share of the network.
  double node_link_bytes_per_second = 0;
  int64_t node_link_gpus = 0;  // that these links join; 0: those of a node
  double network_bytes_per_second = 0;
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

// Peak at `format`, or at the fastest wider format where the accelerator has
// no units for it (fp8 -> bf16 -> fp16 -> fp32; tf32 -> fp32).
Peak PeakOf(const Accelerator& accelerator, NumberFormat format);

// "bf16".
std::string_view NumberFormatName(NumberFormat format);

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_ACCELERATOR_H_
