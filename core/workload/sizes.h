// Sizes that most operators of a job need, on one GPU and for one micro-batch.
//
// Part of the implementation of operators.h.
#ifndef PRISM_CORE_WORKLOAD_SIZES_H_
#define PRISM_CORE_WORKLOAD_SIZES_H_

#include <optional>

#include "core/workload/job.h"

namespace prism::workload {

struct Sizes {
  explicit Sizes(const Job& job);

  double width = 2;      // bytes of an activation
  double t = 1;          // tensor group
  double c = 1;          // context group
  double sequences = 1;  // of a micro-batch
  double s = 1;          // the whole sequence
  double tokens = 1;     // of the micro-batch on this context rank
  // Outside the products, where sequence parallelism splits them.
  double own_tokens = 1;
  double h = 1;
  double e = 1;
  double heads = 1;       // of this tensor rank
  double kv_heads = 1;    // a group larger than they are holds copies
  double f = 1;           // feed-forward of this tensor rank
  double widened = 1;     // twice that where gated
  double vocabulary = 1;  // of this tensor rank

  double projected() const { return (heads + 2 * kv_heads) * e; }
};

// Whose kernels do element-wise work.
enum class Fusion {
  kByHand,    // those of Megatron-LM and Transformer Engine
  kNone,      // one kernel an operation, as PyTorch runs by itself
  kCompiled,  // as few as the data allow
};
Fusion FusionOf(const Training& training);

// Bytes of an input of products in 8 or 4 bit; nothing in wider formats.
std::optional<double> NarrowBytes(Precision precision);

}  // namespace prism::workload

#endif  // PRISM_CORE_WORKLOAD_SIZES_H_
