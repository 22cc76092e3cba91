#include "client/import/huggingface.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/import/job_fields.h"

namespace prism::import {
namespace {

using nlohmann::json;
using prism::v1::Job;

constexpr int64_t kMost = int64_t{1} << 24;

// What a model type does where its file is silent.
struct Family {
  std::string_view type;
  bool gated;
  // Feed-forward width where it may be missing: this times hidden. 0: stated.
  int default_ffn;
  bool tied;
  bool bias;
  // Rows of the learned position table beyond the longest position; -1: none
  // are learned.
  int extra_positions;
};

constexpr auto kFamilies = std::to_array<Family>({
    {"llama", true, 0, false, false, -1},
    {"mistral", true, 0, false, false, -1},
    {"qwen2", true, 0, false, false, -1},
    {"qwen3", true, 0, false, false, -1},
    {"gemma", true, 0, true, false, -1},
    {"gpt_neox", false, 0, false, true, -1},
    {"gptj", false, 4, false, true, -1},
    {"gpt2", false, 4, true, true, 0},
    {"opt", false, 0, true, true, 2},
    {"bloom", false, 4, true, true, -1},
    {"falcon", false, 4, true, false, -1},
    {"RefinedWeb", false, 4, true, false, -1},
    {"RefinedWebModel", false, 4, true, false, -1},
});

constexpr auto kNotModelled =
    std::to_array<std::pair<std::string_view, std::string_view>>({
        {"mixtral", "a mixture of experts"},
        {"qwen2_moe", "a mixture of experts"},
        {"qwen3_moe", "a mixture of experts"},
        {"gpt_oss", "a mixture of experts"},
        {"deepseek_v2", "a mixture of experts with latent attention"},
        {"deepseek_v3", "a mixture of experts with latent attention"},
        {"t5", "a model with an encoder and a decoder"},
        {"mt5", "a model with an encoder and a decoder"},
        {"bart", "a model with an encoder and a decoder"},
        {"bert", "an encoder"},
        {"roberta", "an encoder"},
        {"gpt_neo", "attention over a window in every other layer"},
        {"gemma2", "attention over a window in every other layer"},
        {"mamba", "state-space layers"},
        {"mamba2", "state-space layers"},
    });

using Keys = std::vector<const char*>;

class ConfigReader {
 public:
  ConfigReader(json config, const Settings& settings,
               base::Violations& violations)
      : config_(std::move(config)),
        settings_(settings),
        violations_(violations) {}

  Job Read() && {
    ReplaceKeys();
    const Family* family = FindFamily();
    if (family == nullptr) return job_;
    RefuseVariants();
    ReadModel(*family);
    ReadTraining();
    ApplySettings();
    FillBatch();
    CheckWindow();
    return std::move(job_);
  }

 private:
  void Missing(const std::string& key) {
    violations_.Add(
        key, absl::StrCat("is missing; give it with --set ", key, "=VALUE"));
  }

  // Settings that are not fields of a job replace keys of the file.
  void ReplaceKeys() {
    for (const auto& [name, value] : settings_.all()) {
      if (IsJobField(name) || !(config_.contains(name) || IsKnownKey(name)))
        continue;
      settings_.Find(name);
      json parsed = json::parse(value, nullptr, /*allow_exceptions=*/false);
      config_[name] = parsed.is_discarded() ? json(value) : parsed;
    }
  }

  static bool IsKnownKey(const std::string& name) {
    constexpr auto kKnown = std::to_array<std::string_view>(
        {"model_type", "num_hidden_layers", "hidden_size",
         "num_attention_heads", "num_key_value_heads", "num_kv_heads",
         "intermediate_size", "ffn_dim", "vocab_size", "head_dim",
         "max_position_embeddings", "tie_word_embeddings", "torch_dtype"});
    return std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end();
  }

  const Family* FindFamily() {
    const std::string type = Text("model_type");
    for (const Family& family : kFamilies) {
      if (family.type == type) return &family;
    }
    std::string supported;
    for (const Family& family : kFamilies) {
      absl::StrAppend(&supported, supported.empty() ? "" : ", ",
                      std::string(family.type));
    }
    std::string reason = absl::StrCat("is \"", type, "\"");
    if (type.empty()) reason = "is missing";
    for (const auto& [name, meaning] : kNotModelled) {
      if (name == type) {
        absl::StrAppend(&reason, ", ", std::string(meaning),
                        ", which PRISM does not model so far");
      }
    }
    violations_.Add("model_type",
                    absl::StrCat(reason, "; must be one of ", supported));
    return nullptr;
  }

  // What makes a model of a known type one that is not modelled.
  void RefuseVariants() {
    for (const char* key :
         {"num_local_experts", "num_experts", "n_routed_experts"}) {
      if (Find({key}).value_or(1) > 1) {
        violations_.Add(key,
                        "is above 1: a mixture of experts, which PRISM "
                        "does not model so far");
      }
    }
    const std::optional<int64_t> projected = Find({"word_embed_proj_dim"});
    if (projected.has_value() && projected != Find(HiddenKeys())) {
      violations_.Add("word_embed_proj_dim",
                      "differs from hidden_size: embeddings of another width, "
                      "which PRISM does not model so far");
    }
  }

  static Keys HiddenKeys() {
    return {"hidden_size", "n_embd", "n_embed", "hidden_dim"};
  }
  static Keys PositionKeys() {
    return {"max_position_embeddings", "n_positions", "seq_length",
            "max_seq_len", "n_ctx"};
  }

  void ReadModel(const Family& family) {
    auto& model = *job_.mutable_model();
    const int64_t hidden = Required(HiddenKeys());
    const int64_t heads = Required({"num_attention_heads", "n_head"});
    model.set_layers(
        Size(Required({"num_hidden_layers", "n_layer", "num_layers"})));
    model.set_hidden(Size(hidden));
    model.set_heads(Size(heads));
    model.set_kv_heads(Size(KeyValueHeads(family, heads)));
    model.set_head_size(Size(HeadSize(hidden, heads)));
    model.set_ffn_hidden(Size(FeedForward(family, hidden)));
    model.set_gated_ffn(family.gated);
    model.set_vocabulary(Size(Required({"vocab_size"})));
    model.set_untied_embeddings(!Flag("tie_word_embeddings", family.tied));
    model.set_linear_bias(LinearBias(family));
    if (family.extra_positions >= 0) {
      model.set_position_embeddings(
          Size(Required(PositionKeys()) + family.extra_positions));
    }
  }

  int64_t KeyValueHeads(const Family& family, int64_t heads) {
    const bool old_falcon =
        family.type == "RefinedWebModel" ||
        (family.type == "falcon" && !Flag("new_decoder_architecture", false));
    if (old_falcon) return Flag("multi_query", true) ? 1 : heads;
    return Find({"num_key_value_heads", "num_kv_heads", "n_head_kv"})
        .value_or(heads);
  }

  int64_t HeadSize(int64_t hidden, int64_t heads) {
    const std::optional<int64_t> stated = Find({"head_dim"});
    if (stated.has_value()) return *stated;
    if (hidden % heads != 0 && violations_.empty()) {
      violations_.Add("num_attention_heads",
                      absl::StrCat("is ", heads, "; must divide hidden_size ",
                                   hidden, " unless head_dim is given"));
    }
    return std::max<int64_t>(1, hidden / heads);
  }

  // A width of 4 * hidden in a gated model is no Hugging Face file's: tools
  // that count matrices of two write it ("ffn_embed_dim").
  int64_t FeedForward(const Family& family, int64_t hidden) {
    if (family.gated) return Required({"intermediate_size"});
    const Keys keys = {"intermediate_size", "n_inner", "ffn_dim",
                       "ffn_hidden_size", "ffn_embed_dim"};
    if (family.default_ffn > 0)
      return Find(keys).value_or(family.default_ffn * hidden);
    return Required(keys);
  }

  bool LinearBias(const Family& family) {
    if (family.type == "opt") return Flag("enable_bias", true);
    if (family.default_ffn > 0 && !family.bias) return Flag("bias", false);
    return family.bias ||
           (Flag("attention_bias", false) && Flag("mlp_bias", false));
  }

  void ReadTraining() {
    auto& parallelism = *job_.mutable_parallelism();
    parallelism.set_tensor(1);
    parallelism.set_pipeline(1);
    parallelism.set_data(1);
    auto& training = *job_.mutable_training();
    training.set_micro_batch(1);
    training.set_precision(PrecisionOfWeights());
    training.set_recompute(prism::v1::RECOMPUTE_NONE);
    training.set_attention(prism::v1::ATTENTION_FLASH);
  }

  prism::v1::Precision PrecisionOfWeights() {
    const std::string type =
        config_.contains("dtype") ? Text("dtype") : Text("torch_dtype");
    if (type == "float16") return prism::v1::PRECISION_FP16;
    if (type == "float32") return prism::v1::PRECISION_FP32;
    return prism::v1::PRECISION_BF16;
  }

  void ApplySettings() {
    if (const auto longest = Find(PositionKeys())) {
      job_.mutable_training()->set_sequence(
          std::min(Size(*longest), kLongestDefaultSequence));
    }
    for (const auto& [name, value] : settings_.all()) {
      if (!IsJobField(name)) continue;
      settings_.Find(name);
      SetJobField(name, value, job_, violations_);
    }
    if (job_.training().sequence() == 0 &&
        settings_.all().count("sequence") == 0)
      Missing("sequence");
  }

  void FillBatch() {
    auto& training = *job_.mutable_training();
    if (training.global_batch() != 0) return;
    const uint64_t batch = uint64_t{training.micro_batch()} *
                           std::max(1u, job_.parallelism().data());
    if (batch > UINT32_MAX) return Missing("global_batch");
    training.set_global_batch(static_cast<uint32_t>(batch));
  }

  void CheckWindow() {
    const std::optional<int64_t> window = Find({"sliding_window"});
    if (!window.has_value() || !Flag("use_sliding_window", true)) return;
    if (job_.training().sequence() > *window) {
      violations_.Add("sliding_window",
                      absl::StrCat("is ", *window,
                                   ", shorter than the sequence: attention "
                                   "over a window is not modelled so far; "
                                   "give at most --set sequence=",
                                   *window));
    }
  }

  static uint32_t Size(int64_t value) { return static_cast<uint32_t>(value); }

  // The first of `keys` that is there and not null.
  std::optional<int64_t> Find(const Keys& keys) {
    for (const char* key : keys) {
      const auto found = config_.find(key);
      if (found == config_.end() || found->is_null()) continue;
      if (found->is_number_unsigned() && *found >= 1u && *found <= kMost)
        return found->get<int64_t>();
      violations_.Add(
          key, absl::StrCat("is ", Shown(*found),
                            "; must be a whole number from 1 to ", kMost));
      return 1;
    }
    return std::nullopt;
  }

  int64_t Required(const Keys& keys) {
    const std::optional<int64_t> value = Find(keys);
    if (!value.has_value()) Missing(keys[0]);
    return value.value_or(1);
  }

  bool Flag(const char* key, bool otherwise) {
    const auto found = config_.find(key);
    if (found == config_.end() || found->is_null()) return otherwise;
    if (found->is_boolean()) return found->get<bool>();
    violations_.Add(
        key, absl::StrCat("is ", Shown(*found), "; must be true or false"));
    return otherwise;
  }

  std::string Text(const char* key) const {
    const auto found = config_.find(key);
    return found != config_.end() && found->is_string()
               ? found->get<std::string>()
               : "";
  }

  static std::string Shown(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace)
        .substr(0, 40);
  }

  json config_;
  const Settings& settings_;
  base::Violations& violations_;
  Job job_;
};

}  // namespace

Imported ImportHuggingFace(const SourceFile& file, const Settings& settings,
                           base::Violations& violations) {
  json config = json::parse(file.text, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) {
    violations.Add("", "is not a JSON object, as config.json is");
    return {};
  }
  Imported imported;
  imported.jobs.push_back(
      ConfigReader(std::move(config), settings, violations).Read());
  imported.jobs[0].set_name(NameFromFile(file.name));
  if (violations.empty()) settings.ReportUnused(violations);
  if (!violations.empty()) imported.jobs.clear();
  return imported;
}

}  // namespace prism::import
