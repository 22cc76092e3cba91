#include "client/import/megatron_job.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/import/megatron_options.h"

namespace prism::import {
namespace {

using prism::v1::Job;

uint32_t Size(int64_t value) { return static_cast<uint32_t>(value); }

// The options of `names` are spellings of one through the years.
int64_t CountOfAny(const OptionReader& reader,
                   const std::vector<std::string>& names, int64_t otherwise) {
  for (const std::string& name : names) {
    if (reader.Has(name)) return reader.Count(name).value_or(otherwise);
  }
  return otherwise;
}

bool HasAny(const OptionReader& reader, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const auto& name) { return reader.Has(name); });
}

class JobReader {
 public:
  JobReader(const OptionReader& reader, base::Violations& violations)
      : reader_(reader), violations_(violations) {}

  Job Read() && {
    ReadModel();
    ReadPositions();
    ReadParallelism();
    ReadVocabulary();
    ReadTraining();
    ReadRecompute();
    ReadAttention();
    const int64_t world = WorldSize();
    const std::optional<int64_t> batch = reader_.Count("global-batch-size");
    if (violations_.empty()) SplitLayers();
    if (violations_.empty()) SplitReplicas(world, batch);
    return std::move(job_);
  }

 private:
  void Refuse(const std::string& option, const std::string& reason) {
    violations_.Add("--" + option, reason);
  }

  void ReadModel() {
    auto& model = *job_.mutable_model();
    const int64_t hidden = reader_.Required("hidden-size");
    const int64_t heads = reader_.Required("num-attention-heads");
    model.set_layers(Size(reader_.Required("num-layers")));
    model.set_hidden(Size(hidden));
    model.set_heads(Size(heads));
    model.set_kv_heads(Size(KeyValueHeads(heads)));
    model.set_head_size(Size(HeadSize(hidden, heads)));
    model.set_gated_ffn(
        HasAny(reader_, {"swiglu", "quick-geglu", "glu-activation"}));
    model.set_ffn_hidden(
        Size(reader_.Count("ffn-hidden-size").value_or(DefaultFfn(hidden))));
    model.set_untied_embeddings(
        reader_.Has("untie-embeddings-and-output-weights"));
    model.set_linear_bias(!reader_.Has("disable-bias-linear"));
  }

  int64_t KeyValueHeads(int64_t heads) const {
    if (reader_.Has("group-query-attention"))
      return reader_.Count("num-query-groups").value_or(1);
    return reader_.Count("num-key-value-heads").value_or(heads);
  }

  int64_t HeadSize(int64_t hidden, int64_t heads) {
    if (reader_.Has("kv-channels"))
      return reader_.Count("kv-channels").value_or(1);
    if (hidden % heads != 0 && hidden > 1) {
      Refuse("num-attention-heads",
             absl::StrCat("is ", heads, "; must divide --hidden-size ", hidden,
                          " unless --kv-channels is given"));
    }
    return std::max<int64_t>(1, hidden / heads);
  }

  // As Megatron-LM does: two thirds of 4 h with a third matrix, in whole 64s.
  int64_t DefaultFfn(int64_t hidden) const {
    if (!reader_.Has("swiglu")) return 4 * hidden;
    return std::max<int64_t>(64, 8 * hidden / 3 / 64 * 64);
  }

  void ReadPositions() {
    job_.mutable_training()->set_sequence(Size(reader_.Required("seq-length")));
    const std::string type =
        reader_.Text("position-embedding-type")
            .value_or(DefaultOf("position-embedding-type"));
    const bool learned = type == "learned_absolute" || type == "absolute";
    if (!learned || HasAny(reader_, {"use-rotary-position-embeddings",
                                     "no-position-embedding"})) {
      return;
    }
    job_.mutable_model()->set_position_embeddings(
        Size(reader_.Required("max-position-embeddings")));
  }

  void ReadParallelism() {
    auto& parallelism = *job_.mutable_parallelism();
    const int64_t tensor = CountOfAny(
        reader_, {"tensor-model-parallel-size", "model-parallel-size"}, 1);
    parallelism.set_tensor(Size(tensor));
    parallelism.set_pipeline(
        Size(CountOfAny(reader_, {"pipeline-model-parallel-size"}, 1)));
    parallelism.set_sequence_parallel(tensor > 1 &&
                                      reader_.Has("sequence-parallel"));
    if (reader_.Has("use-tp-pp-dp-mapping"))
      parallelism.set_rank_order(prism::v1::RANK_ORDER_TENSOR_PIPELINE_DATA);
    ReadSharding();
  }

  void ReadSharding() {
    bool sharded = reader_.Has("use-distributed-optimizer");
    if (reader_.Has("deepspeed") && !reader_.Has("zero-stage")) {
      Refuse("zero-stage",
             "is missing: --deepspeed needs it, its configuration file is not "
             "read; give it with --set zero-stage=VALUE");
    }
    if (reader_.Has("zero-stage")) {
      const int64_t stage = reader_.Count("zero-stage", 0).value_or(0);
      sharded = sharded || stage == 1;
      if (stage > 1) {
        Refuse("zero-stage",
               absl::StrCat("is ", stage, "; PRISM models 0 and 1 so far"));
      }
    }
    if (sharded)
      job_.mutable_parallelism()->set_sharding(prism::v1::SHARDING_ZERO1);
  }

  void ReadVocabulary() {
    int64_t size =
        CountOfAny(reader_, {"padded-vocab-size", "pad-vocab-size-to"}, 0);
    if (size == 0) size = PaddedVocabulary();
    job_.mutable_model()->set_vocabulary(Size(size));
  }

  int64_t PaddedVocabulary() {
    const int64_t multiple =
        reader_.Count("make-vocab-size-divisible-by").value_or(128) *
        job_.parallelism().tensor();
    const int64_t size = (Tokens() + multiple - 1) / multiple * multiple;
    if (size <= UINT32_MAX) return size;
    Refuse("make-vocab-size-divisible-by",
           absl::StrCat("pads the vocabulary to ", size, "; must be at most ",
                        UINT32_MAX));
    return 1;
  }

  int64_t Tokens() {
    const std::string type =
        reader_.Text("tokenizer-type").value_or(DefaultOf("tokenizer-type"));
    if (reader_.Has("vocab-size")) {
      // Its size is "before EOD": the tokenizer adds one token.
      const bool adds_one = type == "NullTokenizer";
      return reader_.Count("vocab-size").value_or(1) + (adds_one ? 1 : 0);
    }
    if (const int known = KnownTokenizerSize(type)) return known;
    for (const char* option : {"tokenizer-name-or-path", "tokenizer-model"}) {
      const int known = KnownTokenizerSize(NameIn(option));
      if (known > 0) return known;
    }
    Refuse("vocab-size",
           absl::StrCat("is missing: the size of tokenizer ", type,
                        " is not known; give it with --set vocab-size=VALUE"));
    return 1;
  }

  // The value of an option that may hold a path nobody needs to know.
  std::string NameIn(const std::string& option) const {
    base::Violations unknown;
    return reader_.WithViolations(unknown).Text(option).value_or("");
  }

  void ReadTraining() {
    auto& training = *job_.mutable_training();
    training.set_micro_batch(Size(reader_.Required("micro-batch-size")));
    const bool bf16 = reader_.Has("bf16");
    if (bf16 && reader_.Has("fp16"))
      Refuse("fp16", "contradicts --bf16; take one away with --set fp16=false");
    if (reader_.Has("fp8-format")) {
      training.set_precision(prism::v1::PRECISION_FP8);
    } else if (bf16) {
      training.set_precision(prism::v1::PRECISION_BF16);
    } else if (reader_.Has("fp16")) {
      training.set_precision(prism::v1::PRECISION_FP16);
    } else {
      training.set_precision(prism::v1::PRECISION_FP32);
      return;
    }
    training.set_fp32_gradients(
        reader_.Has("accumulate-allreduce-grads-in-fp32") ||
        (bf16 && !reader_.Has("grad-reduce-in-bf16")));
  }

  void ReadRecompute() {
    const bool full = HasAny(
        reader_, {"checkpoint-activations", "activations-checkpoint-method"});
    std::string granularity = full ? "full" : "none";
    if (reader_.Has("recompute-activations")) granularity = "selective";
    if (reader_.Has("recompute-granularity"))
      granularity = reader_.Text("recompute-granularity").value_or("none");
    CheckRecomputeIsWhole(granularity);
    using enum prism::v1::Recompute;
    job_.mutable_training()->set_recompute(
        granularity == "full"        ? RECOMPUTE_FULL
        : granularity == "selective" ? RECOMPUTE_SELECTIVE
                                     : RECOMPUTE_NONE);
  }

  // Full recomputation is that of all layers, selective that of the scores.
  void CheckRecomputeIsWhole(const std::string& granularity) {
    if (granularity != "full" && granularity != "selective" &&
        granularity != "none") {
      Refuse(
          "recompute-granularity",
          absl::StrCat("is \"", granularity, "\"; must be full or selective"));
    }
    for (const char* option :
         {"recompute-method", "activations-checkpoint-method"}) {
      if (granularity == "full" && reader_.Text(option) == "block") {
        Refuse(option,
               "is block, which recomputes some layers and not "
               "others; PRISM models all or none");
      }
    }
    if (granularity == "selective" && reader_.Has("recompute-modules") &&
        reader_.Text("recompute-modules") != "core_attn") {
      Refuse("recompute-modules",
             "recomputes more than the attention scores; "
             "PRISM models core_attn");
    }
  }

  void ReadAttention() {
    job_.mutable_training()->set_attention(UsesFlashAttention()
                                               ? prism::v1::ATTENTION_FLASH
                                               : prism::v1::ATTENTION_UNFUSED);
  }

  bool UsesFlashAttention() const {
    if (reader_.Has("attention-backend")) {
      const std::string backend =
          reader_.Text("attention-backend").value_or("");
      return backend != "unfused" && backend != "local";
    }
    if (HasAny(reader_, {"use-flash-attn", "use-flash-attn-v2"})) return true;
    if (reader_.Has("transformer-impl"))
      return reader_.Text("transformer-impl") != "local";
    return !HasAny(reader_, {"deepspeed", "DDP-impl", "checkpoint-activations",
                             "activations-checkpoint-method"});
  }

  void SplitLayers() {
    auto& parallelism = *job_.mutable_parallelism();
    const int64_t layers = job_.model().layers();
    const int64_t stages = parallelism.pipeline();
    CheckPartition(layers, stages);
    if (!violations_.empty()) return;
    if (layers % stages != 0) {
      Refuse("num-layers",
             absl::StrCat("is ", layers, "; must split evenly over ", stages,
                          " pipeline stages"));
      return;
    }
    const int64_t virtual_stages = VirtualStages(layers / stages);
    if (virtual_stages > 1) {
      parallelism.set_virtual_stages(Size(virtual_stages));
      parallelism.set_schedule(prism::v1::SCHEDULE_INTERLEAVED);
    } else if (stages > 1) {
      parallelism.set_schedule(prism::v1::SCHEDULE_ONE_FORWARD_ONE_BACKWARD);
    }
  }

  // DeepSpeed weighs each layer that the method matches with 1 and gives every
  // stage the same weight. With embedding and head among them, N layers on S
  // stages split evenly for S = 1, and for S = 2 with even N.
  void CheckPartition(int64_t layers, int64_t stages) {
    constexpr const char* kOption = "pp-partition-method";
    const std::string method =
        reader_.Text(kOption).value_or(DefaultOf(kOption));
    if (stages == 1 || method == DefaultOf(kOption)) return;
    const bool with_embedding = method == "type:transformer|embedding" ||
                                method == "type:embedding|transformer";
    if (with_embedding && stages == 2 && layers % 2 == 0) return;
    const int64_t near = (layers + stages - 1) / stages * stages;
    Refuse(
        kOption,
        absl::StrCat(
            "is ", method,
            with_embedding ? ", which counts embedding and head as layers" : "",
            ": ", layers, " layers on ", stages,
            " stages are not split evenly, which PRISM does not "
            "model; for a job near this one give --set ",
            kOption, "=type:transformer --set num-layers=", near));
  }

  int64_t VirtualStages(int64_t layers_per_stage) {
    constexpr const char* kLayers = "num-layers-per-virtual-pipeline-stage";
    if (!reader_.Has(kLayers)) {
      return reader_.Count("num-virtual-stages-per-pipeline-rank").value_or(1);
    }
    const int64_t layers = reader_.Count(kLayers).value_or(1);
    if (layers_per_stage % layers == 0) return layers_per_stage / layers;
    Refuse(kLayers,
           absl::StrCat("is ", layers, "; must divide the ", layers_per_stage,
                        " layers of a pipeline stage"));
    return 1;
  }

  void SplitReplicas(int64_t world, std::optional<int64_t> batch) {
    const int64_t replica =
        int64_t{job_.parallelism().tensor()} * job_.parallelism().pipeline();
    if (world % replica != 0) {
      violations_.Add(
          "GPUs",
          absl::StrCat("are ", world, "; must be a multiple of ", replica,
                       ", tensor * pipeline ranks; give another number with "
                       "--set WORLD_SIZE=VALUE"));
      return;
    }
    job_.mutable_parallelism()->set_data(Size(world / replica));
    SetGlobalBatch(world / replica * job_.training().micro_batch(), batch);
  }

  void SetGlobalBatch(int64_t per_microbatch, std::optional<int64_t> batch) {
    const int64_t size = batch.value_or(per_microbatch);
    if (size % per_microbatch != 0 || size > UINT32_MAX) {
      Refuse("global-batch-size",
             absl::StrCat("is ", size, "; must be a multiple of ",
                          per_microbatch, ", micro-batch size * ",
                          job_.parallelism().data(), " replicas"));
    }
    job_.mutable_training()->set_global_batch(Size(size));
  }

  // In GPUs.
  int64_t WorldSize() const {
    if (const auto world = reader_.Setting("WORLD_SIZE")) return *world;
    const int64_t nodes =
        reader_.Has("nnodes")
            ? reader_.Count("nnodes").value_or(1)
            : reader_.RequiredVariable({"NNODES", "NUM_NODES", "SLURM_NNODES"},
                                       "nodes");
    for (const char* option : {"nproc_per_node", "nproc-per-node"}) {
      if (reader_.Has(option)) return nodes * reader_.Count(option).value_or(1);
    }
    return nodes *
           reader_.RequiredVariable(
               {"GPUS_PER_NODE", "NUM_GPUS_PER_NODE", "SLURM_GPUS_PER_NODE"},
               "GPUs a node has");
  }

  const OptionReader& reader_;
  base::Violations& violations_;
  Job job_;
};

}  // namespace

Job ReadMegatronJob(const OptionReader& reader, base::Violations& violations) {
  return JobReader(reader, violations).Read();
}

}  // namespace prism::import
