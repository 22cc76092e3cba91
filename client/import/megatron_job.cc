#include "client/import/megatron_job.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/import/megatron_layout.h"
#include "client/import/megatron_options.h"

namespace prism::import {
namespace {

using prism::v1::Job;

uint32_t Size(int64_t value) { return static_cast<uint32_t>(value); }

class JobReader {
 public:
  JobReader(const OptionReader& reader, base::Violations& violations)
      : reader_(reader), violations_(violations) {}

  Job Read() && {
    ReadModel();
    ReadPositions();
    ReadLayout(reader_, violations_, *job_.mutable_parallelism());
    ReadVocabulary();
    ReadTraining();
    ReadRecompute();
    ReadFramework();
    ReadSwitches();
    const int64_t world = WorldSize();
    const std::optional<int64_t> batch = reader_.Count("global-batch-size");
    if (violations_.empty()) SplitLayers(reader_, violations_, job_);
    if (violations_.empty())
      SplitReplicas(reader_, world, batch, violations_, job_);
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
        reader_.HasAny({"swiglu", "quick-geglu", "glu-activation"}));
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
    if (!learned || reader_.HasAny({"use-rotary-position-embeddings",
                                    "no-position-embedding"})) {
      return;
    }
    job_.mutable_model()->set_position_embeddings(
        Size(reader_.Required("max-position-embeddings")));
  }

  void ReadVocabulary() {
    int64_t size =
        reader_.CountOfAny({"padded-vocab-size", "pad-vocab-size-to"}, 0);
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
    if (reader_.Has("fp4-format")) {
      training.set_precision(prism::v1::PRECISION_FP4);
    } else if (reader_.Has("fp8-format")) {
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
    const std::string granularity = RecomputeGranularity();
    CheckRecompute(granularity);
    using enum prism::v1::Recompute;
    auto& training = *job_.mutable_training();
    training.set_recompute(granularity == "full"        ? RECOMPUTE_FULL
                           : granularity == "selective" ? RECOMPUTE_SELECTIVE
                                                        : RECOMPUTE_NONE);
    if (granularity == "full") ReadRecomputedLayers(training);
  }

  std::string RecomputeGranularity() const {
    if (reader_.Has("recompute-granularity"))
      return reader_.Text("recompute-granularity").value_or("none");
    if (reader_.Has("recompute-activations")) return "selective";
    const bool full = reader_.HasAny(
        {"checkpoint-activations", "activations-checkpoint-method"});
    return full ? "full" : "none";
  }

  void CheckRecompute(const std::string& granularity) {
    if (granularity != "full" && granularity != "selective" &&
        granularity != "none") {
      Refuse(
          "recompute-granularity",
          absl::StrCat("is \"", granularity, "\"; must be full or selective"));
    }
    if (granularity != "selective") return;
    for (const std::string& module : reader_.Texts("recompute-modules")) {
      if (module == "core_attn") continue;
      Refuse("recompute-modules",
             "recomputes more than the attention scores; "
             "PRISM models core_attn");
      return;
    }
  }

  // With method block only so many layers of each virtual stage.
  void ReadRecomputedLayers(prism::v1::Training& training) {
    for (const std::string spelling : {"recompute", "activations-checkpoint"}) {
      if (reader_.Text(spelling + "-method") != "block") continue;
      const int64_t layers = LayersOf(spelling + "-num-layers");
      training.set_recompute_layers(Size(layers));
      if (layers == 0) training.set_recompute(prism::v1::RECOMPUTE_NONE);
    }
  }

  int64_t LayersOf(const std::string& option) {
    int64_t otherwise = 0;
    if (!reader_.Has(option) &&
        !absl::SimpleAtoi(DefaultOf(option), &otherwise)) {
      Refuse(option, absl::StrCat("is missing: method block needs it; give it "
                                  "with --set ",
                                  option, "=VALUE"));
    }
    return reader_.Count(option, 0).value_or(otherwise);
  }

  void ReadFramework() {
    auto& training = *job_.mutable_training();
    if (UsesTransformerEngine())
      training.set_framework(prism::v1::FRAMEWORK_MEGATRON_CORE);
    training.set_attention(UsesFlashAttention() ? prism::v1::ATTENTION_FLASH
                                                : prism::v1::ATTENTION_UNFUSED);
  }

  bool UsesFlashAttention() const {
    if (reader_.Has("attention-backend")) {
      const std::string backend =
          reader_.Text("attention-backend").value_or("");
      return backend != "unfused" && backend != "local";
    }
    return reader_.HasAny({"use-flash-attn", "use-flash-attn-v2"}) ||
           UsesTransformerEngine();
  }

  // Scripts older than Transformer Engine give options that went before it
  // came.
  bool UsesTransformerEngine() const {
    if (reader_.Has("transformer-impl"))
      return reader_.Text("transformer-impl") != "local";
    return reader_.HasAny({"use-mcore-models", "use-te", "fp8-format",
                           "fp4-format", "tp-comm-overlap", "cp-comm-type"}) ||
           !reader_.HasAny({"deepspeed", "DDP-impl", "checkpoint-activations",
                            "activations-checkpoint-method"});
  }

  void ReadSwitches() {
    auto& training = *job_.mutable_training();
    training.set_dropout(DropoutOf("attention-dropout") ||
                         DropoutOf("hidden-dropout"));
    if (reader_.Has("cross-entropy-loss-fusion") &&
        reader_.Text("cross-entropy-fusion-impl") == "te") {
      training.set_fused_cross_entropy(true);
    }
    if (reader_.HasAny({"optimizer-cpu-offload", "cpu-optimizer"}))
      training.set_offload_optimizer(true);
    constexpr const char* kPart = "optimizer-offload-fraction";
    if (training.offload_optimizer() && reader_.Fraction(kPart, 1) != 1)
      Refuse(kPart, "is not 1; PRISM models all optimizer states on the host");
  }

  bool DropoutOf(const std::string& option) const {
    double otherwise = 0;
    return reader_.Fraction(option,
                            absl::SimpleAtod(DefaultOf(option), &otherwise)
                                ? otherwise
                                : 0) > 0;
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
