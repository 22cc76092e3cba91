#include "core/query/read_job.h"

#include <absl/strings/str_cat.h>

#include "core/query/limits.h"

namespace prism::query {
namespace {

using workload::Attention;
using workload::Model;
using workload::Parallelism;
using workload::Precision;
using workload::RankOrder;
using workload::Recompute;
using workload::Schedule;
using workload::Sharding;
using workload::Training;

constexpr int64_t kMostLayers = 10'000;
constexpr int64_t kWidest = 1 << 20;       // hidden
constexpr int64_t kMostHeads = 1 << 16;    // and the largest head
constexpr int64_t kLargestSize = 1 << 24;  // feed-forward, vocabulary, sequence
constexpr int64_t kLargestBatch = 1 << 30;

class JobReader {
 public:
  JobReader(const prism::v1::Job& message, const FieldPath& path,
            Checker& checker)
      : message_(message), path_(path), checker_(checker) {}

  workload::Job Read() {
    const bool has_model = checker_.Require(message_.has_model(),
                                            path_.Field("model"), "is missing");
    const bool has_training = checker_.Require(
        message_.has_training(), path_.Field("training"), "is missing");
    if (has_model) ReadModel(path_.Field("model"));
    ReadParallelism(path_.Field("parallelism"));
    if (has_training) ReadTraining(path_.Field("training"));
    if (has_model) CheckModelSplit(path_.Field("model"));
    if (has_training) CheckBatchSplit(path_.Field("training"));
    if (has_model && has_training) CheckPositions(path_.Field("training"));
    return job_;
  }

 private:
  void ReadModel(const FieldPath& path) {
    const auto& m = message_.model();
    Model& model = job_.model;
    model.layers =
        checker_.Between(m.layers(), 1, kMostLayers, path.Field("layers"));
    model.hidden =
        checker_.Between(m.hidden(), 1, kWidest, path.Field("hidden"));
    model.heads =
        checker_.Between(m.heads(), 1, kMostHeads, path.Field("heads"));
    model.kv_heads = checker_.BetweenOr(m.kv_heads(), model.heads, 1,
                                        kMostHeads, path.Field("kv_heads"));
    model.head_size =
        checker_.BetweenOr(m.head_size(), model.hidden / model.heads, 1,
                           kMostHeads, path.Field("head_size"));
    model.ffn_hidden =
        checker_.BetweenOr(m.ffn_hidden(), 4 * model.hidden, 1, kLargestSize,
                           path.Field("ffn_hidden"));
    model.gated_ffn = m.gated_ffn();
    model.vocabulary = checker_.Between(m.vocabulary(), 1, kLargestSize,
                                        path.Field("vocabulary"));
    model.position_embeddings =
        checker_.BetweenOr(m.position_embeddings(), 0, 1, kLargestSize,
                           path.Field("position_embeddings"));
    model.tied_embeddings = !m.untied_embeddings();
    model.linear_bias =
        m.has_linear_bias() ? m.linear_bias() : !model.gated_ffn;
    CheckHeads(path);
  }

  void CheckHeads(const FieldPath& path) {
    const Model& model = job_.model;
    if (model.heads % model.kv_heads != 0) {
      checker_.Fail(path.Field("kv_heads"),
                    absl::StrCat("is ", model.kv_heads, "; must divide heads, ",
                                 "which is ", model.heads));
    }
    if (message_.model().head_size() == 0) {
      checker_.Divides(model.heads, "heads where head_size is not given",
                       model.hidden, path.Field("hidden"));
    }
  }

  int64_t Group(uint32_t value, const FieldPath& path) {
    return checker_.BetweenOr(value, 1, 1, kMostRanks, path);
  }

  void ReadParallelism(const FieldPath& path) {
    const auto& m = message_.parallelism();
    Parallelism& split = job_.parallelism;
    split.tensor = Group(m.tensor(), path.Field("tensor"));
    split.sequence_parallel = m.sequence_parallel();
    checker_.Require(m.context() <= 1, path.Field("context"),
                     absl::StrCat("is ", m.context(),
                                  "; must be 1, more is not modelled yet"));
    split.pipeline = Group(m.pipeline(), path.Field("pipeline"));
    split.virtual_stages = checker_.BetweenOr(
        m.virtual_stages(), 1, 1, kMostLayers, path.Field("virtual_stages"));
    split.data = Group(m.data(), path.Field("data"));
    ReadWords(path);
    CheckGroups(path);
  }

  void ReadWords(const FieldPath& path) {
    const auto& m = message_.parallelism();
    Parallelism& split = job_.parallelism;
    split.schedule = checker_.Choose<prism::v1::Schedule, Schedule>(
        m.schedule(),
        {{prism::v1::SCHEDULE_UNSPECIFIED,
          split.virtual_stages > 1 ? Schedule::kInterleaved
                                   : Schedule::kOneForwardOneBackward},
         {prism::v1::SCHEDULE_ONE_FORWARD_ONE_BACKWARD,
          Schedule::kOneForwardOneBackward},
         {prism::v1::SCHEDULE_GPIPE, Schedule::kGpipe},
         {prism::v1::SCHEDULE_INTERLEAVED, Schedule::kInterleaved}},
        path.Field("schedule"));
    split.sharding = checker_.Choose<prism::v1::Sharding, Sharding>(
        m.sharding(),
        {{prism::v1::SHARDING_UNSPECIFIED, Sharding::kNone},
         {prism::v1::SHARDING_NONE, Sharding::kNone},
         {prism::v1::SHARDING_ZERO1, Sharding::kZero1}},
        path.Field("sharding"));
    split.rank_order = checker_.Choose<prism::v1::RankOrder, RankOrder>(
        m.rank_order(),
        {{prism::v1::RANK_ORDER_UNSPECIFIED, RankOrder::kTensorDataPipeline},
         {prism::v1::RANK_ORDER_TENSOR_DATA_PIPELINE,
          RankOrder::kTensorDataPipeline},
         {prism::v1::RANK_ORDER_TENSOR_PIPELINE_DATA,
          RankOrder::kTensorPipelineData}},
        path.Field("rank_order"));
  }

  void CheckGroups(const FieldPath& path) {
    const Parallelism& split = job_.parallelism;
    // Two of the sizes multiply without overflow, three need not.
    const bool fits = split.tensor * split.pipeline <= kMostRanks &&
                      split.gpus() <= kMostRanks;
    checker_.Require(
        fits, path,
        absl::StrCat(
            "has ", split.tensor, " * ", split.pipeline, " * ", split.data,
            " ranks (tensor * pipeline * data); must be at most ", kMostRanks));
    if (split.schedule == Schedule::kInterleaved) {
      checker_.Require(split.pipeline > 1, path.Field("pipeline"),
                       "is 1; must be above 1 for the interleaved schedule");
    } else {
      checker_.Require(
          split.virtual_stages == 1, path.Field("virtual_stages"),
          absl::StrCat("is ", split.virtual_stages,
                       "; must be 1 unless the schedule is interleaved"));
    }
  }

  void ReadTraining(const FieldPath& path) {
    const auto& m = message_.training();
    Training& training = job_.training;
    training.sequence =
        checker_.Between(m.sequence(), 1, kLargestSize, path.Field("sequence"));
    training.global_batch = checker_.Between(m.global_batch(), 1, kLargestBatch,
                                             path.Field("global_batch"));
    training.micro_batch = checker_.BetweenOr(
        m.micro_batch(), 1, 1, kLargestSize, path.Field("micro_batch"));
    training.precision = ReadPrecision(path.Field("precision"));
    training.recompute = checker_.Choose<prism::v1::Recompute, Recompute>(
        m.recompute(),
        {{prism::v1::RECOMPUTE_UNSPECIFIED, Recompute::kNone},
         {prism::v1::RECOMPUTE_NONE, Recompute::kNone},
         {prism::v1::RECOMPUTE_SELECTIVE, Recompute::kSelective},
         {prism::v1::RECOMPUTE_FULL, Recompute::kFull}},
        path.Field("recompute"));
    training.attention = checker_.Choose<prism::v1::Attention, Attention>(
        m.attention(),
        {{prism::v1::ATTENTION_UNSPECIFIED, Attention::kFlash},
         {prism::v1::ATTENTION_FLASH, Attention::kFlash},
         {prism::v1::ATTENTION_UNFUSED, Attention::kUnfused}},
        path.Field("attention"));
    training.fp32_gradients = m.has_fp32_gradients()
                                  ? m.fp32_gradients()
                                  : training.precision == Precision::kBf16;
  }

  Precision ReadPrecision(const FieldPath& path) {
    return checker_.Choose<prism::v1::Precision, Precision>(
        message_.training().precision(),
        {{prism::v1::PRECISION_UNSPECIFIED, Precision::kBf16},
         {prism::v1::PRECISION_FP32, Precision::kFp32},
         {prism::v1::PRECISION_TF32, Precision::kTf32},
         {prism::v1::PRECISION_FP16, Precision::kFp16},
         {prism::v1::PRECISION_BF16, Precision::kBf16},
         {prism::v1::PRECISION_FP8, Precision::kFp8}},
        path);
  }

  void CheckModelSplit(const FieldPath& path) {
    const Model& model = job_.model;
    const Parallelism& split = job_.parallelism;
    checker_.Divides(split.pipeline * split.virtual_stages,
                     "parallelism.pipeline * virtual_stages", model.layers,
                     path.Field("layers"));
    checker_.Divides(split.tensor, "parallelism.tensor", model.heads,
                     path.Field("heads"));
    checker_.Divides(split.tensor, "parallelism.tensor", model.ffn_hidden,
                     path.Field("ffn_hidden"));
    if (model.kv_heads % split.tensor == 0) return;
    checker_.Require(split.tensor % model.kv_heads == 0, path.Field("kv_heads"),
                     absl::StrCat("is ", model.kv_heads,
                                  "; must be a multiple or a divisor of "
                                  "parallelism.tensor, which is ",
                                  split.tensor));
  }

  void CheckBatchSplit(const FieldPath& path) {
    const Training& training = job_.training;
    const Parallelism& split = job_.parallelism;
    const int64_t at_once = training.micro_batch * split.data;
    checker_.Divides(at_once, "training.micro_batch * parallelism.data",
                     training.global_batch, path.Field("global_batch"));
    if (training.global_batch % at_once == 0) CheckMicrobatches(path);
    if (split.sequence_parallel) {
      checker_.Divides(split.tensor, "parallelism.tensor", training.sequence,
                       path.Field("sequence"));
    }
  }

  void CheckMicrobatches(const FieldPath& path) {
    const Parallelism& split = job_.parallelism;
    const int64_t microbatches = job_.microbatches();
    const FieldPath field = path.Field("global_batch");
    if (split.schedule == Schedule::kInterleaved) {
      checker_.Require(
          microbatches % split.pipeline == 0, field,
          absl::StrCat("gives ", microbatches,
                       " micro-batches; must be divisible by "
                       "parallelism.pipeline for the interleaved schedule, "
                       "which is ",
                       split.pipeline));
    }
    CheckPipelineSize({split.pipeline, split.virtual_stages, microbatches},
                      field, checker_);
  }

  void CheckPositions(const FieldPath& path) {
    const int64_t positions = job_.model.position_embeddings;
    checker_.Require(
        positions == 0 || job_.training.sequence <= positions,
        path.Field("sequence"),
        absl::StrCat("is ", job_.training.sequence,
                     "; must be at most model.position_embeddings, which is ",
                     positions));
  }

  const prism::v1::Job& message_;
  const FieldPath& path_;
  Checker& checker_;
  workload::Job job_;
};

}  // namespace

workload::Job ReadJob(const prism::v1::Job& message, const FieldPath& path,
                      Checker& checker) {
  return JobReader(message, path, checker).Read();
}

}  // namespace prism::query
