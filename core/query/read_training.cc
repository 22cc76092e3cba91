#include "core/query/read_job_parts.h"

namespace prism::query {
namespace {

using workload::Attention;
using workload::Framework;
using workload::Precision;
using workload::Recompute;
using workload::Training;

constexpr int64_t kLargestBatch = 1 << 30;

Precision ReadPrecision(prism::v1::Precision value, const FieldPath& path,
                        Checker& checker) {
  return checker.Choose<prism::v1::Precision, Precision>(
      value,
      {{prism::v1::PRECISION_UNSPECIFIED, Precision::kBf16},
       {prism::v1::PRECISION_FP32, Precision::kFp32},
       {prism::v1::PRECISION_TF32, Precision::kTf32},
       {prism::v1::PRECISION_FP16, Precision::kFp16},
       {prism::v1::PRECISION_BF16, Precision::kBf16},
       {prism::v1::PRECISION_FP8, Precision::kFp8},
       {prism::v1::PRECISION_FP4, Precision::kFp4}},
      path);
}

Recompute ReadRecompute(prism::v1::Recompute value, const FieldPath& path,
                        Checker& checker) {
  return checker.Choose<prism::v1::Recompute, Recompute>(
      value,
      {{prism::v1::RECOMPUTE_UNSPECIFIED, Recompute::kNone},
       {prism::v1::RECOMPUTE_NONE, Recompute::kNone},
       {prism::v1::RECOMPUTE_SELECTIVE, Recompute::kSelective},
       {prism::v1::RECOMPUTE_FULL, Recompute::kFull}},
      path);
}

Attention ReadAttention(prism::v1::Attention value, const FieldPath& path,
                        Checker& checker) {
  return checker.Choose<prism::v1::Attention, Attention>(
      value,
      {{prism::v1::ATTENTION_UNSPECIFIED, Attention::kFlash},
       {prism::v1::ATTENTION_FLASH, Attention::kFlash},
       {prism::v1::ATTENTION_UNFUSED, Attention::kUnfused}},
      path);
}

Framework ReadFramework(prism::v1::Framework value, const FieldPath& path,
                        Checker& checker) {
  return checker.Choose<prism::v1::Framework, Framework>(
      value,
      {{prism::v1::FRAMEWORK_UNSPECIFIED, Framework::kMegatronLm},
       {prism::v1::FRAMEWORK_MEGATRON_LM, Framework::kMegatronLm},
       {prism::v1::FRAMEWORK_MEGATRON_CORE, Framework::kMegatronCore},
       {prism::v1::FRAMEWORK_FSDP, Framework::kFsdp},
       {prism::v1::FRAMEWORK_TORCHTITAN, Framework::kTorchtitan}},
      path);
}

bool GradientsIn32Bit(const Training& training) {
  switch (training.precision) {
    case Precision::kBf16:
      return training.framework != Framework::kFsdp;
    case Precision::kFp8:
    case Precision::kFp4:
      return training.framework != Framework::kFsdp &&
             training.framework != Framework::kMegatronLm;
    default:
      return false;
  }
}

void ReadSizes(const prism::v1::Training& m, Training& training,
               const FieldPath& path, Checker& checker) {
  training.sequence =
      checker.Between(m.sequence(), 1, kLargestSize, path.Field("sequence"));
  training.global_batch = checker.Between(m.global_batch(), 1, kLargestBatch,
                                          path.Field("global_batch"));
  training.micro_batch = checker.BetweenOr(m.micro_batch(), 1, 1, kLargestSize,
                                           path.Field("micro_batch"));
}

void ReadRecomputation(const prism::v1::Training& m, Training& training,
                       const FieldPath& path, Checker& checker) {
  training.recompute =
      ReadRecompute(m.recompute(), path.Field("recompute"), checker);
  if (m.recompute_layers() == 0) return;
  const FieldPath field = path.Field("recompute_layers");
  training.recompute_layers =
      checker.Between(m.recompute_layers(), 1, kMostLayers, field);
  checker.Require(training.recompute == Recompute::kFull, field,
                  "is not allowed unless recompute is full");
}

void ReadActivations(const prism::v1::Training& m, Training& training,
                     const FieldPath& path, Checker& checker) {
  training.offload_activations = checker.Within(
      m.offload_activations(), 0, 1, path.Field("offload_activations"));
  if (m.keep_microbatches() == 0) return;
  const FieldPath field = path.Field("keep_microbatches");
  training.keep_microbatches =
      checker.Between(m.keep_microbatches(), 1, kLargestBatch, field);
  checker.Require(training.recompute == Recompute::kFull, field,
                  "is not allowed unless recompute is full");
}

// What the message leaves open, by framework and model.
void ReadSwitches(const prism::v1::Training& m, const workload::Model& model,
                  Training& training) {
  training.fp32_gradients =
      m.has_fp32_gradients() ? m.fp32_gradients() : GradientsIn32Bit(training);
  training.compiled = m.compiled();
  training.dropout =
      m.has_dropout()
          ? m.dropout()
          : training.framework == Framework::kMegatronLm && model.linear_bias;
  training.fused_cross_entropy = m.fused_cross_entropy();
  training.offload_optimizer = m.offload_optimizer();
}

}  // namespace

Training ReadTraining(const prism::v1::Training& message,
                      const workload::Model& model, const FieldPath& path,
                      Checker& checker) {
  Training training;
  ReadSizes(message, training, path, checker);
  training.precision =
      ReadPrecision(message.precision(), path.Field("precision"), checker);
  ReadRecomputation(message, training, path, checker);
  ReadActivations(message, training, path, checker);
  training.attention =
      ReadAttention(message.attention(), path.Field("attention"), checker);
  training.framework =
      ReadFramework(message.framework(), path.Field("framework"), checker);
  ReadSwitches(message, model, training);
  return training;
}

}  // namespace prism::query
