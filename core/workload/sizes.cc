#include "core/workload/sizes.h"

#include "core/workload/operators.h"

namespace prism::workload {
namespace {

double Share(int64_t heads, double ranks) {
  const auto all = static_cast<double>(heads);
  return all >= ranks ? all / ranks : 1;
}

}  // namespace

Sizes::Sizes(const Job& job)
    : width(ActivationBytes(job.training)),
      t(static_cast<double>(job.parallelism.tensor)),
      c(static_cast<double>(job.parallelism.context)),
      sequences(static_cast<double>(job.training.micro_batch)),
      s(static_cast<double>(job.training.sequence)),
      tokens(sequences * s / c),
      own_tokens(job.parallelism.sequence_parallel ? tokens / t : tokens),
      h(static_cast<double>(job.model.hidden)),
      e(static_cast<double>(job.model.head_size)),
      heads(static_cast<double>(job.model.heads) / t),
      kv_heads(Share(job.model.kv_heads, t)),
      f(static_cast<double>(job.model.ffn_hidden) / t),
      widened(job.model.gated_ffn ? 2 * f : f),
      vocabulary(static_cast<double>(job.model.vocabulary) / t) {}

Fusion FusionOf(const Training& training) {
  if (training.compiled) return Fusion::kCompiled;
  return training.framework == Framework::kMegatronLm ||
                 training.framework == Framework::kMegatronCore
             ? Fusion::kByHand
             : Fusion::kNone;
}

std::optional<double> NarrowBytes(Precision precision) {
  switch (precision) {
    case Precision::kFp8:
      return 1;
    case Precision::kFp4:
      return 0.5;
    default:
      return std::nullopt;
  }
}

}  // namespace prism::workload
