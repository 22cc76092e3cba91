#include "client/import/megatron_layout.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string>
#include <vector>

#include "client/import/megatron_options.h"

namespace prism::import {
namespace {

using prism::v1::Job;
using prism::v1::Parallelism;
using prism::v1::Sharding;

constexpr int64_t kMostGpus = int64_t{1} << 24;
constexpr const char* kFirst = "decoder-first-pipeline-num-layers";
constexpr const char* kLast = "decoder-last-pipeline-num-layers";
constexpr const char* kEmbeddingAlone = "standalone-embedding-stage";
constexpr const char* kLayersPerChunk = "num-layers-per-virtual-pipeline-stage";
constexpr const char* kChunks = "num-virtual-stages-per-pipeline-rank";
constexpr const char* kPartition = "pp-partition-method";
constexpr const char* kCopies = "num-distributed-optimizer-instances";

uint32_t Size(int64_t value) { return static_cast<uint32_t>(value); }

void Refuse(const std::string& option, const std::string& reason,
            base::Violations& violations) {
  violations.Add("--" + option, reason);
}

// DeepSpeed's sequence parallelism (Ulysses) exchanges parts of sequences for
// heads.
void ReadContext(const OptionReader& reader, base::Violations& violations,
                 Parallelism& parallelism) {
  const int64_t megatron = reader.CountOfAny({"context-parallel-size"}, 1);
  const int64_t deepspeed = reader.CountOfAny({"ds-sequence-parallel-size"}, 1);
  if (megatron > 1 && deepspeed > 1) {
    Refuse("ds-sequence-parallel-size",
           "contradicts --context-parallel-size; must be 1 with it",
           violations);
  }
  if (megatron == 1 && deepspeed == 1) return;
  parallelism.set_context(Size(std::max(megatron, deepspeed)));
  if (deepspeed > 1)
    parallelism.set_context_kind(prism::v1::CONTEXT_KIND_ALL_TO_ALL);
}

void ReadContextKind(const OptionReader& reader, base::Violations& violations,
                     Parallelism& parallelism) {
  const std::vector<std::string> kinds = reader.Texts("cp-comm-type");
  if (kinds.empty() || parallelism.context() <= 1) return;
  const std::string& kind = kinds.front();
  if (kind == "p2p") {
    parallelism.set_context_kind(prism::v1::CONTEXT_KIND_RING);
  } else if (kind == "all_gather") {
    parallelism.set_context_kind(prism::v1::CONTEXT_KIND_ALL_GATHER);
  } else if (kind == "a2a") {
    parallelism.set_context_kind(prism::v1::CONTEXT_KIND_ALL_TO_ALL);
  } else {
    Refuse("cp-comm-type",
           absl::StrCat("is ", kind, "; PRISM models p2p, all_gather and a2a"),
           violations);
  }
  if (std::count(kinds.begin(), kinds.end(), kind) != std::ssize(kinds))
    Refuse("cp-comm-type", "differs from layer to layer", violations);
}

Sharding ShardingOfZero(const OptionReader& reader,
                        base::Violations& violations) {
  if (reader.Has("deepspeed") && !reader.Has("zero-stage")) {
    Refuse("zero-stage",
           "is missing: --deepspeed needs it, its configuration file is not "
           "read; give it with --set zero-stage=VALUE",
           violations);
  }
  const int64_t stage = reader.Count("zero-stage", 0).value_or(0);
  switch (stage) {
    case 0:
      return prism::v1::SHARDING_UNSPECIFIED;
    case 1:
      return prism::v1::SHARDING_ZERO1;
    case 2:
      return prism::v1::SHARDING_ZERO2;
    case 3:
      return prism::v1::SHARDING_ZERO3;
    default:
      Refuse("zero-stage", absl::StrCat("is ", stage, "; must be 0 to 3"),
             violations);
      return prism::v1::SHARDING_UNSPECIFIED;
  }
}

Sharding ShardingOfMegatronFsdp(const OptionReader& reader,
                                base::Violations& violations) {
  constexpr const char* kStrategy = "data-parallel-sharding-strategy";
  const std::string strategy =
      reader.Text(kStrategy).value_or(DefaultOf(kStrategy));
  if (strategy == "optim") return prism::v1::SHARDING_ZERO1;
  if (strategy == "optim_grads") return prism::v1::SHARDING_ZERO2;
  if (strategy == "optim_grads_params") return prism::v1::SHARDING_ZERO3;
  if (strategy != "no_shard") {
    Refuse(kStrategy,
           absl::StrCat("is \"", strategy,
                        "\"; must be no_shard, optim, optim_grads or "
                        "optim_grads_params"),
           violations);
  }
  return prism::v1::SHARDING_UNSPECIFIED;
}

Sharding ReadSharding(const OptionReader& reader,
                      base::Violations& violations) {
  if (reader.Has("use-torch-fsdp2")) return prism::v1::SHARDING_ZERO3;
  if (reader.HasAny({"use-megatron-fsdp", "use-custom-fsdp"}))
    return ShardingOfMegatronFsdp(reader, violations);
  const Sharding zero = ShardingOfZero(reader, violations);
  return reader.Has("use-distributed-optimizer")
             ? std::max(zero, prism::v1::SHARDING_ZERO1)
             : zero;
}

// PyTorch's own sharding gathers and reduces beside computation by itself.
void ReadOverlap(const OptionReader& reader, Parallelism& parallelism) {
  if (reader.HasAny({"overlap-grad-reduce", "use-torch-fsdp2"}))
    parallelism.mutable_overlap()->set_gradients(true);
  if (reader.HasAny({"overlap-param-gather", "use-torch-fsdp2"}))
    parallelism.mutable_overlap()->set_parameters(true);
  if (reader.Has("tp-comm-overlap"))
    parallelism.mutable_overlap()->set_tensor(true);
  if (reader.Has("no-overlap-p2p-communication"))
    parallelism.mutable_overlap()->set_pipeline(false);
}

// Gives every stage its layers.
class LayerSplitter {
 public:
  LayerSplitter(const OptionReader& reader, base::Violations& violations,
                Job& job)
      : reader_(reader),
        violations_(violations),
        layers_(job.model().layers()),
        stages_(job.parallelism().pipeline()),
        parallelism_(*job.mutable_parallelism()) {}

  void Split() {
    CountEnds();
    if (!violations_.empty()) return;
    const bool given = reader_.HasAny({kFirst, kLast, kEmbeddingAlone});
    const int64_t chunks = given && stages_ > 1 ? SplitByEnds() : SplitEvenly();
    if (!violations_.empty()) return;
    if (chunks > 1) {
      parallelism_.set_virtual_stages(Size(chunks));
      parallelism_.set_schedule(prism::v1::SCHEDULE_INTERLEAVED);
    } else if (stages_ > 1) {
      parallelism_.set_schedule(prism::v1::SCHEDULE_ONE_FORWARD_ONE_BACKWARD);
    }
  }

 private:
  void Refuse(const std::string& option, const std::string& reason) {
    violations_.Add("--" + option, reason);
  }

  // Whether embedding and head count as layers.
  void CountEnds() {
    if (stages_ == 1) return;
    if (reader_.Has("account-for-embedding-in-pipeline-split"))
      parallelism_.set_embedding_as_layer(true);
    if (reader_.Has("account-for-loss-in-pipeline-split"))
      parallelism_.set_head_as_layer(true);
    ReadPartition();
  }

  // DeepSpeed weighs each layer that the method matches with 1 and gives every
  // stage the same weight.
  void ReadPartition() {
    const std::string method =
        reader_.Text(kPartition).value_or(DefaultOf(kPartition));
    if (method == DefaultOf(kPartition)) return;
    const bool with_ends = method == "type:transformer|embedding" ||
                           method == "type:embedding|transformer";
    if (with_ends && (layers_ + 2) % stages_ == 0) {
      parallelism_.set_embedding_as_layer(true);
      parallelism_.set_head_as_layer(true);
      return;
    }
    const int64_t near = (layers_ + stages_ - 1) / stages_ * stages_;
    Refuse(kPartition,
           absl::StrCat(
               "is ", method,
               with_ends ? ", which counts embedding and head as layers" : "",
               ": ", layers_, " layers on ", stages_,
               " stages are not split evenly; for a job near this one give "
               "--set ",
               kPartition, "=type:transformer --set num-layers=", near));
  }

  // Chunks of a stage; 1 with a violation.
  int64_t SplitEvenly() {
    const int64_t ends = (parallelism_.embedding_as_layer() ? 1 : 0) +
                         (parallelism_.head_as_layer() ? 1 : 0);
    if ((layers_ + ends) % stages_ != 0) {
      Refuse("num-layers",
             absl::StrCat("is ", layers_,
                          ends > 0 ? absl::StrCat(" and ", ends,
                                                  " more for embedding or head")
                                   : "",
                          "; must split evenly over ", stages_,
                          " pipeline stages"));
      return 1;
    }
    return ChunksOf((layers_ + ends) / stages_);
  }

  int64_t ChunksOf(int64_t layers_per_stage) {
    if (!reader_.Has(kLayersPerChunk))
      return reader_.Count(kChunks).value_or(1);
    const int64_t layers = reader_.Count(kLayersPerChunk).value_or(1);
    if (layers_per_stage % layers == 0) return layers_per_stage / layers;
    Refuse(kLayersPerChunk,
           absl::StrCat("is ", layers, "; must divide the ", layers_per_stage,
                        " layers of a pipeline stage"));
    return 1;
  }

  // The layers of the first or the last stage, where options say so.
  std::optional<int64_t> LayersAt(const char* end) const {
    if (end == kFirst && reader_.Has(kEmbeddingAlone)) return 0;
    return reader_.Count(end, 0);
  }

  // Megatron-core's rule: the other stages share the rest evenly, and so do
  // the chunks of a stage.
  int64_t SplitByEnds() {
    const auto first = LayersAt(kFirst);
    const auto last = LayersAt(kLast);
    const int64_t chunks = reader_.Count(kChunks).value_or(1);
    CheckEnds(chunks);
    const int64_t rest = layers_ - first.value_or(0) - last.value_or(0);
    const int64_t inner = stages_ - (first ? 1 : 0) - (last ? 1 : 0);
    const bool fits =
        inner == 0 ? rest == 0
                   : rest >= inner * chunks && rest % (inner * chunks) == 0;
    if (!fits || first.value_or(0) % chunks != 0 ||
        last.value_or(0) % chunks != 0) {
      Refuse("num-layers",
             absl::StrCat("is ", layers_, "; what the ends leave, ", rest,
                          ", must split evenly over ", inner,
                          " stages, and each stage over ", chunks, " chunks"));
    }
    if (!violations_.empty()) return 1;
    SetStages(first, last, inner == 0 ? 0 : rest / inner, chunks);
    return chunks;
  }

  void CheckEnds(int64_t chunks) {
    if (reader_.Has(kLayersPerChunk)) {
      Refuse(
          kLayersPerChunk,
          absl::StrCat("is not allowed where stages differ; give --", kChunks));
    }
    if (parallelism_.embedding_as_layer() || parallelism_.head_as_layer())
      Refuse(reader_.Has(kLast) ? kLast : kFirst,
             "contradicts embedding or head counted as layers");
    if (reader_.Has(kEmbeddingAlone) && (chunks > 1 || reader_.Has(kFirst)))
      Refuse(kEmbeddingAlone, "is not allowed with other splits");
  }

  void SetStages(std::optional<int64_t> first, std::optional<int64_t> last,
                 int64_t inner, int64_t chunks) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      for (int64_t stage = 0; stage < stages_; ++stage) {
        const int64_t layers = stage == 0             ? first.value_or(inner)
                               : stage == stages_ - 1 ? last.value_or(inner)
                                                      : inner;
        parallelism_.add_stage_layers(Size(layers / chunks));
      }
    }
  }

  const OptionReader& reader_;
  base::Violations& violations_;
  const int64_t layers_;
  const int64_t stages_;
  Parallelism& parallelism_;
};

void ReadShardGroup(const OptionReader& reader, base::Violations& violations,
                    Parallelism& parallelism) {
  const int64_t copies = reader.Count(kCopies).value_or(1);
  if (copies == 1 || parallelism.sharding() <= prism::v1::SHARDING_NONE) return;
  const int64_t ranks =
      int64_t{parallelism.data()} * std::max(1U, parallelism.context());
  if (ranks % copies != 0) {
    Refuse(kCopies,
           absl::StrCat("is ", copies, "; must divide the ", ranks,
                        " data-parallel ranks"),
           violations);
  }
  const auto outer = reader.Text("outer-dp-sharding-strategy");
  if (outer.has_value() && *outer != "no_shard") {
    Refuse("outer-dp-sharding-strategy",
           "shards between copies too; PRISM models no_shard", violations);
  }
  parallelism.set_shard_group(Size(ranks / copies));
}

void SetGlobalBatch(std::optional<int64_t> batch, base::Violations& violations,
                    Job& job) {
  const int64_t at_once =
      int64_t{job.parallelism().data()} * job.training().micro_batch();
  const int64_t size = batch.value_or(at_once);
  if (size % at_once != 0 || size > UINT32_MAX) {
    Refuse("global-batch-size",
           absl::StrCat("is ", size, "; must be a multiple of ", at_once,
                        ", micro-batch size * ", job.parallelism().data(),
                        " replicas"),
           violations);
  }
  job.mutable_training()->set_global_batch(Size(size));
}

}  // namespace

void ReadLayout(const OptionReader& reader, base::Violations& violations,
                Parallelism& parallelism) {
  const int64_t tensor = reader.CountOfAny(
      {"tensor-model-parallel-size", "model-parallel-size"}, 1);
  parallelism.set_tensor(Size(tensor));
  parallelism.set_pipeline(
      Size(reader.CountOfAny({"pipeline-model-parallel-size"}, 1)));
  parallelism.set_sequence_parallel(tensor > 1 &&
                                    reader.Has("sequence-parallel"));
  ReadContext(reader, violations, parallelism);
  ReadContextKind(reader, violations, parallelism);
  if (reader.Has("use-tp-pp-dp-mapping"))
    parallelism.set_rank_order(prism::v1::RANK_ORDER_TENSOR_PIPELINE_DATA);
  parallelism.set_sharding(ReadSharding(reader, violations));
  ReadOverlap(reader, parallelism);
}

void SplitLayers(const OptionReader& reader, base::Violations& violations,
                 Job& job) {
  LayerSplitter(reader, violations, job).Split();
}

void SplitReplicas(const OptionReader& reader, int64_t world,
                   std::optional<int64_t> batch, base::Violations& violations,
                   Job& job) {
  Parallelism& parallelism = *job.mutable_parallelism();
  const int64_t context = std::max(1U, parallelism.context());
  const int64_t stage = parallelism.tensor() * context;
  // Larger numbers would not multiply, and are no job.
  const int64_t replica =
      stage > kMostGpus ? stage : stage * parallelism.pipeline();
  if (world > kMostGpus) {
    violations.Add(
        "GPUs", absl::StrCat("are ", world, "; must be at most ", kMostGpus));
    return;
  }
  if (world % replica != 0) {
    violations.Add(
        "GPUs", absl::StrCat("are ", world, "; must be a multiple of ", replica,
                             ", tensor * ", context > 1 ? "context * " : "",
                             "pipeline ranks; give another number with "
                             "--set WORLD_SIZE=VALUE"));
    return;
  }
  parallelism.set_data(Size(world / replica));
  ReadShardGroup(reader, violations, parallelism);
  SetGlobalBatch(batch, violations, job);
}

}  // namespace prism::import
