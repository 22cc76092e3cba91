#include "core/workload/elementwise.h"

namespace prism::workload {
Operator MemoryOperator(double bytes, double kernels) {
  return {.kind = OperatorKind::kMemory, .bytes = bytes, .kernels = kernels};
}

Elementwise::Elementwise(const Job& job)
    : z_(job),
      fusion_(FusionOf(job.training)),
      bias_(job.model.linear_bias),
      dropout_(job.training.dropout),
      gated_(job.model.gated_ffn),
      rotates_(gated_ && job.model.position_embeddings == 0),
      narrow_(job.training.framework == Framework::kMegatronLm
                  ? 0
                  : NarrowBytes(job.training.precision).value_or(0)) {}

// Each operation by itself, in 32 bit: widen, square, mean, scale, narrow,
// weight.
double Elementwise::RootMeanSquareBytes() const {
  return (z_.width + 4) + 8 + 4 + 8 + (4 + z_.width) + 2 * z_.width;
}

Operator Elementwise::NormForward(NormInput input) const {
  const double elements = z_.own_tokens * z_.h;
  switch (fusion_) {
    case Fusion::kByHand:
      break;
    case Fusion::kNone:
      // PyTorch has a kernel for layer norms; gated models have the other kind.
      if (!gated_) break;
      return MemoryOperator(elements * RootMeanSquareBytes(), 6);
    case Fusion::kCompiled:
      if (input == NormInput::kStored) break;
      return MemoryOperator(elements * z_.width, 0);
  }
  return MemoryOperator(elements * 2 * z_.width);
}

Operator Elementwise::NormBackward() const {
  const double elements = z_.own_tokens * z_.h;
  switch (fusion_) {
    case Fusion::kByHand:
      break;
    case Fusion::kNone:
      if (!gated_) break;
      return MemoryOperator(
          elements * (2 * RootMeanSquareBytes() + 3 * z_.width), 13);
    case Fusion::kCompiled:
      return MemoryOperator(elements * 4 * z_.width, 2);
  }
  return MemoryOperator(elements * 6 * z_.width, 3);
}

Operator Elementwise::ResidualForward() const {
  const double elements = z_.own_tokens * z_.h;
  const double mask = dropout_ ? 1 : 0;
  if (dropout_ && fusion_ == Fusion::kNone) {
    return MemoryOperator(elements * (5 * z_.width + mask), 2);
  }
  return MemoryOperator(elements * (3 * z_.width + mask));
}

Operator Elementwise::ResidualBackward() const {
  const double dropout = dropout_ ? 2 * z_.width + 1 : 0;
  const double bias = bias_ ? z_.width : 0;
  return MemoryOperator(z_.own_tokens * z_.h * (dropout + bias),
                        (dropout_ ? 1 : 0) + (bias_ ? 1 : 0));
}

Operator Elementwise::ActivationForward() const {
  if (gated_ && fusion_ == Fusion::kNone) {
    return MemoryOperator(z_.tokens * 5 * z_.f * z_.width, 2);
  }
  return MemoryOperator(z_.tokens * (z_.widened + z_.f) * z_.width);
}

Operator Elementwise::ActivationBackward() const {
  const double bias_kernels = bias_ ? 1 : 0;
  if (gated_ && fusion_ == Fusion::kNone) {
    return MemoryOperator(z_.tokens * 9 * z_.f * z_.width, 3 + bias_kernels);
  }
  return MemoryOperator(z_.tokens * (2 * z_.widened + z_.f) * z_.width,
                        1 + bias_kernels);
}

Operator Elementwise::Rotation() const {
  if (!rotates_) return MemoryOperator(0, 0);
  const double elements = z_.tokens * (z_.heads + z_.kv_heads) * z_.e;
  // By itself PyTorch widens, multiplies complex numbers and narrows.
  return fusion_ == Fusion::kNone
             ? MemoryOperator(elements * (2 * z_.width + 16), 6)
             : MemoryOperator(elements * 2 * z_.width, 2);
}

Operator Elementwise::Cast(double elements) const {
  if (narrow_ == 0) return MemoryOperator(0, 0);
  return MemoryOperator(elements * (z_.width + 2 * narrow_));
}

}  // namespace prism::workload
