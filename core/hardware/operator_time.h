// OperatorModel: how long one GPU takes for one operator.
//
//   time = launch + max(FLOPs / (peak x efficiency(shape)),
//                       bytes / (bandwidth x efficiency))
//
// Immutable after construction; safe to share between threads.
#ifndef PRISM_CORE_HARDWARE_OPERATOR_TIME_H_
#define PRISM_CORE_HARDWARE_OPERATOR_TIME_H_

#include "core/hardware/accelerator.h"

namespace prism::hardware {

// `batch` products of an m x k with a k x n matrix. All at least 1.
struct MatrixProduct {
  double batch = 1;
  double m = 1;
  double n = 1;
  double k = 1;

  double flops() const { return 2 * batch * m * n * k; }
  // Elements read once and written once.
  double elements() const { return batch * (m * k + k * n + m * n); }
};

// What the accelerator's data sheet does not say, equal for all of them. What
// each was measured or fitted on: docs/model/hardware.md.
struct OperatorSpeeds {
  // Start of a kernel that follows another.
  double launch_seconds = 3e-6;
  // Share of the memory bandwidth that element-wise kernels reach.
  double memory_efficiency = 0.75;
  // A tile's prologue and epilogue, as if the inner dimension were longer.
  double inner_overhead = 200;
  // Share of peak at which a fused attention kernel runs (tiles of scores
  // never leave the processor), forward and backward.
  double attention_forward_efficiency = 0.60;
  double attention_backward_efficiency = 0.50;
};

class OperatorModel final {
 public:
  explicit OperatorModel(const Accelerator& accelerator,
                         const OperatorSpeeds& speeds = {})
      : accelerator_(accelerator), speeds_(speeds) {}

  double MatrixProductSeconds(const MatrixProduct& product,
                              NumberFormat format) const;

  // Element-wise work that moves `bytes` to and from memory in `kernels`
  // kernels.
  double MemorySeconds(double bytes, double kernels) const;

  // A fused attention kernel of `flops` executed FLOPs.
  double AttentionSeconds(double flops, bool backward,
                          NumberFormat format) const;

  // No kernel that does `flops` and moves `bytes` can be shorter.
  double FloorSeconds(double flops, double bytes, NumberFormat format) const;

  // Share of peak a matrix product reaches while bound by arithmetic, in
  // (0, 1): tiles are whole, waves of tiles over the processors are whole, and
  // a tile costs a start besides its inner loop. The best tile counts.
  double MatrixProductEfficiency(const MatrixProduct& product) const;

  const Accelerator& accelerator() const { return accelerator_; }

 private:
  Accelerator accelerator_;
  OperatorSpeeds speeds_;
};

// Bytes of one element.
double BytesOf(NumberFormat format);

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_OPERATOR_TIME_H_
