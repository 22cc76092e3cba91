// OperatorModel: how long one GPU takes for one operator.
//
// Matrix products come from measured tables (core/hardware/product_table.h),
// fused attention from shares of peak by sequence and head size, element-wise
// kernels from the memory's rate. Nothing is faster than FloorSeconds().
//
// Immutable after construction; safe to share between threads. A product costs
// 100 to 150 ns; nothing allocates.
#ifndef PRISM_CORE_HARDWARE_OPERATOR_TIME_H_
#define PRISM_CORE_HARDWARE_OPERATOR_TIME_H_

#include <array>

#include "core/hardware/accelerator.h"
#include "core/hardware/operator_speeds.h"
#include "core/hardware/product_table.h"
#include "core/hardware/tile_model.h"

namespace prism::hardware {

// Kernels that compute scores, softmax and values; tiles of scores never leave
// the processor.
struct AttentionKernel {
  double flops = 0;     // executed: half of all where causal blocks are skipped
  double kernels = 1;   // that share them
  double sequence = 1;  // keys that one of them sees
  double head_size = 128;
  bool causal = true;
  bool backward = false;
};

class OperatorModel final {
 public:
  explicit OperatorModel(const Accelerator& accelerator,
                         const OperatorSpeeds& speeds = {},
                         AttentionLibrary library = AttentionLibrary::kVendor);

  double MatrixProductSeconds(const MatrixProduct& product,
                              NumberFormat format) const;

  // Element-wise work that moves `bytes` to and from memory in `kernels`
  // kernels.
  double MemorySeconds(double bytes, double kernels) const;

  // The same where a few threads go over each row of `row` elements, as in
  // softmax: the longer, the less of it fits their registers. Requires:
  // row > 0.
  double RowSeconds(double bytes, double kernels, double row) const;

  double AttentionSeconds(const AttentionKernel& kernel,
                          NumberFormat format) const;

  // No kernel that does `flops` and moves `bytes` can be shorter.
  double FloorSeconds(double flops, double bytes, NumberFormat format) const;

  const Accelerator& accelerator() const { return accelerator_; }

 private:
  // Of one number format: what the accelerator computes it in, and how well.
  struct Format {
    ProductRates rates;
    double efficiency = 1;
  };
  Format FormatOf(NumberFormat format) const;

  Accelerator accelerator_;
  OperatorSpeeds speeds_;
  AttentionSpeeds attention_;
  double power_share_;
  const ProductTable& table_;
  std::array<Format, kNumberFormats> formats_;
};

// Bytes of one element; a half for fp4.
double BytesOf(NumberFormat format);

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_OPERATOR_TIME_H_
