// Operator speeds: what data sheets do not say of an accelerator. Fitted or
// taken from public measurements; docs/model/hardware.md says which and how
// well. Plain values.
#ifndef PRISM_CORE_HARDWARE_OPERATOR_SPEEDS_H_
#define PRISM_CORE_HARDWARE_OPERATOR_SPEEDS_H_

#include <array>
#include <string>

#include "core/hardware/accelerator.h"

namespace prism::hardware {

// Whose fused attention kernels run.
enum class AttentionLibrary {
  kVendor,           // cuDNN and its like, or FlashAttention-3 and later
  kFlashAttention2,  // written for Ampere; elsewhere it runs below the others
  kTriton,           // of 2022 and 2023, by the algorithm before that
};

// Shares of peak of a fused attention kernel over endless sequences with heads
// of 128, in (0, 1].
struct AttentionSpeeds {
  double forward = 0.5;
  double backward = 0.4;
};

// Of all accelerators of one architecture.
struct ArchitectureSpeeds {
  // By NumberFormat: share of the speed that the nearest measured generation's
  // bf16 products have by themselves, after the ratio of peaks.
  std::array<double, kNumberFormats> product = {1, 1, 1, 1, 1, 1};
  // Shares of the memory bandwidth that element-wise kernels reach, and those
  // that go over rows of 2048 elements (softmax).
  double memory_efficiency = 0.75;
  double row_efficiency = 0.45;
  AttentionSpeeds vendor_attention;
  AttentionSpeeds flash_attention2;
  AttentionSpeeds triton_attention;
  // Power of the modules that these shares were measured on; 0: any.
  double watts = 0;
};

// As compiled in.
std::array<ArchitectureSpeeds, kArchitectures> DefaultArchitectureSpeeds();

struct OperatorSpeeds {
  // Start of an element-wise or attention kernel that follows another; a
  // product's is in its table.
  double launch_seconds = 3e-6;
  // Fused attention: sequence at which half the speed is reached, without a
  // causal mask; what the mask adds to it (whole blocks on the diagonal).
  double attention_forward_ramp = 60;
  double attention_backward_ramp = 290;
  double attention_causal_ramp = 290;
  // Speed goes with this power of the head's size below 128.
  double attention_forward_head_power = 0.45;
  double attention_backward_head_power = 0.2;
  // Under a lower limit than the architecture's `watts`, products go with this
  // power of it. Attention keeps fewer units busy and stays below the limit.
  double power_exponent = 0.57;

  std::array<ArchitectureSpeeds, kArchitectures> architectures =
      DefaultArchitectureSpeeds();

  const ArchitectureSpeeds& of(Architecture architecture) const {
    return architectures[static_cast<size_t>(architecture)];
  }
};

// How far operators of an accelerator may be off the model, all alike.
struct OperatorUncertainty {
  double relative_deviation = 0;  // one standard deviation; judged
  bool measured = false;          // this accelerator in this format
  std::string reason;             // "derived from h100-80gb-sxm by ..."
};

// Of products in `format` as the accelerator computes it.
OperatorUncertainty UncertaintyOf(const Accelerator& accelerator,
                                  NumberFormat format);

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_OPERATOR_SPEEDS_H_
