// Element-wise work of a layer: bound by the memory it moves.
//
// What is one kernel by hand is several where PyTorch runs each operation by
// itself, and part of its neighbour where a compiler fuses. Bytes and kernels
// of each are in docs/model/workload.md.
//
// Part of the implementation of operators.h.
#ifndef PRISM_CORE_WORKLOAD_ELEMENTWISE_H_
#define PRISM_CORE_WORKLOAD_ELEMENTWISE_H_

#include <vector>

#include "core/workload/operators.h"
#include "core/workload/sizes.h"

namespace prism::workload {

Operator MemoryOperator(double bytes, double kernels = 1);

// What a norm's input is when it starts: in memory, or just summed by the
// kernel before.
enum class NormInput { kStored, kJustSummed };

class Elementwise final {
 public:
  explicit Elementwise(const Job& job);

  Operator NormForward(NormInput input) const;
  // The residual stream's own gradient is added on the way.
  Operator NormBackward() const;

  // Bias, dropout and the sum with the residual stream.
  Operator ResidualForward() const;
  // Gradients of dropout and bias; nothing where there is neither.
  Operator ResidualBackward() const;

  // Activation function of the feed-forward layer, and its gate.
  Operator ActivationForward() const;
  Operator ActivationBackward() const;

  // Turns queries and keys by their position (arXiv 2104.09864): in gated
  // models without learned positions. The gradient costs the same.
  Operator Rotation() const;

  // Rounds `elements` to the format of narrow products, by rows and by
  // columns; nothing where products are as wide as activations, and at
  // frameworks that have no such products.
  Operator Cast(double elements) const;

 private:
  double RootMeanSquareBytes() const;

  Sizes z_;
  Fusion fusion_;
  bool bias_;
  bool dropout_;
  bool gated_;
  bool rotates_;
  double narrow_;  // bytes of an input of a narrow product; 0: it has none
};

}  // namespace prism::workload

#endif  // PRISM_CORE_WORKLOAD_ELEMENTWISE_H_
