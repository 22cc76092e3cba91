// Parameter counts of model descriptions in three spellings, against a count
// from the file's own fields and against the size that its authors state.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/validate/questions.h"
#include "client/validate/readers.h"

namespace prism::validate {
namespace {

namespace v1 = prism::v1;
using Json = nlohmann::json;

constexpr char kSet[] = "model-configs/";

// How one publisher spells the sizes; empty where it has none.
struct Spelling {
  std::string folder;
  const char* layers;
  const char* hidden;
  const char* heads;
  const char* kv_heads;
  const char* head_size;
  const char* ffn_hidden;
  const char* vocabulary;
  const char* positions;
};
const std::array<Spelling, 3>& Spellings() {
  static const std::array<Spelling, 3> spellings = {
      {{"calculon", "num_blocks", "hidden", "attn_heads", "", "attn_size",
        "feedforward", "", ""},
       {"SimuMax", "layer_num", "hidden_size", "head_num", "kv_head_num",
        "head_size", "intermediate_size", "vocab_size", ""},
       {"llm-analysis", "num_layers", "hidden_dim", "n_head",
        "num_key_value_heads", "", "ffn_embed_dim", "vocab_size",
        "max_seq_len"}}};
  return spellings;
}

// One file; what is wrong in it is added to `wrong`.
class ModelFile {
 public:
  ModelFile(const Json& json, std::string name, base::Violations& wrong)
      : json_(json), name_(std::move(name)), wrong_(wrong) {}

  bool ok() const { return ok_; }
  bool Has(const char* key) const {
    return *key != '\0' && json_.contains(key) && !json_[key].is_null();
  }
  std::string Word(const char* key) const {
    return Has(key) && json_[key].is_string() ? json_[key] : "";
  }
  bool Flag(const char* key) const {
    return Has(key) && json_[key].is_boolean() && json_[key];
  }

  // `fallback` where the file lacks it, if there is one.
  uint32_t Count(const char* key, std::optional<uint32_t> fallback) {
    if (!Has(key) && fallback) return *fallback;
    if (Has(key) && json_[key].is_number_unsigned() && json_[key] >= 1 &&
        json_[key] <= UINT32_MAX) {
      return json_[key];
    }
    wrong_.Add(absl::StrCat(name_, ": ", key),
               absl::StrCat(Has(key) ? "is " + json_[key].dump() : "is missing",
                            "; must be a whole number of at least 1"));
    ok_ = false;
    return 1;
  }

 private:
  const Json& json_;
  std::string name_;
  base::Violations& wrong_;
  bool ok_ = true;
};

// Families with positions that are learned, and with a head of its own.
bool LearnsPositions(const std::string& family) {
  return family.empty() || family == "gpt2" || family == "gpt_neo" ||
         family == "opt" || family == "bert";
}
bool HasOwnHead(const std::string& family) {
  return family == "llama" || family == "gptj" || family == "gpt_neox";
}

void SetFamily(const Spelling& spelling, ModelFile& file, v1::Model& model) {
  const std::string family = file.Word("model_type");
  if (spelling.folder == "SimuMax") {
    model.set_gated_ffn(file.Flag("use_swiglu"));
    model.set_untied_embeddings(true);
    model.set_linear_bias(false);
  } else if (spelling.folder == "llm-analysis") {
    // Llama has three matrices of 8/3 h; the files state two of 4 h.
    model.set_linear_bias(family != "llama");
    model.set_untied_embeddings(HasOwnHead(family));
    if (LearnsPositions(family)) {
      model.set_position_embeddings(file.Count(spelling.positions, 0));
    }
  }
}

v1::Model ReadModel(const Spelling& spelling, ModelFile& file) {
  v1::Model model;
  model.set_layers(file.Count(spelling.layers, {}));
  model.set_hidden(file.Count(spelling.hidden, {}));
  model.set_heads(file.Count(spelling.heads, {}));
  model.set_kv_heads(file.Count(spelling.kv_heads, 0));
  model.set_head_size(file.Count(spelling.head_size, 0));
  model.set_ffn_hidden(file.Count(spelling.ffn_hidden, {}));
  // Blocks alone where no vocabulary is stated.
  model.set_vocabulary(
      file.Count(spelling.vocabulary, *spelling.vocabulary == '\0'
                                          ? std::optional<uint32_t>(1)
                                          : std::nullopt));
  SetFamily(spelling, file, model);
  return model;
}

// Multi-head latent attention and experts, as SimuMax spells them.
std::optional<workload::LatentAttention> ReadLatent(ModelFile& file) {
  if (file.Word("attention_type") != "mla") return std::nullopt;
  return workload::LatentAttention{
      .query_rank = file.Count("q_lora_rank", 0),
      .key_value_rank = file.Count("kv_lora_rank", {}),
      .plain_size = file.Count("qk_head_dim", {}),
      .position_size = file.Count("qk_pos_emb_head_dim", 0),
      .value_size = file.Count("v_head_dim", {})};
}

std::optional<workload::Mixture> ReadMixture(ModelFile& file) {
  if (!file.Has("expert_num")) return std::nullopt;
  return workload::Mixture{
      .experts = file.Count("expert_num", {}),
      .expert_hidden = file.Count("moe_ffn_hidden_size",
                                  file.Count("intermediate_size", {})),
      .shared_hidden = file.Count("moe_shared_expert_intermediate_size", 0),
      .dense_layers = file.Count("dense_layers", 0)};
}

// The count from the fields alone, part by part: weights and biases of
// attention and feed-forward, two norms a layer and one after them, embeddings,
// learned positions and the head's own matrix.
class FieldCount {
 public:
  explicit FieldCount(const Measured& measured)
      : measured_(measured),
        model_(measured.question.job().model()),
        h_(model_.hidden()),
        bias_(model_.has_linear_bias() ? model_.linear_bias()
                                       : !model_.gated_ffn()) {}

  double Total() const {
    const double norm = bias_ ? 2 * h_ : h_;
    const double embeddings =
        h_ * (model_.vocabulary() * (model_.untied_embeddings() ? 2.0 : 1.0) +
              model_.position_embeddings());
    const double attention =
        measured_.latent_attention ? LatentAttention() : Attention();
    return model_.layers() * (attention + 2 * norm) + FeedForwards() + norm +
           embeddings;
  }

 private:
  double Attention() const {
    const double a = model_.heads();
    const double g = model_.kv_heads() > 0 ? model_.kv_heads() : a;
    const double e = model_.head_size() > 0 ? model_.head_size() : h_ / a;
    return h_ * e * (2 * a + 2 * g) + (bias_ ? e * (a + 2 * g) + h_ : 0);
  }

  // Queries, keys and values through narrow vectors with norms of their own.
  double LatentAttention() const {
    const auto& latent = *measured_.latent_attention;
    const double a = model_.heads();
    const auto q = static_cast<double>(latent.query_rank);
    const auto r = static_cast<double>(latent.key_value_rank);
    const auto plain = static_cast<double>(latent.plain_size);
    const auto turned = static_cast<double>(latent.position_size);
    const auto value = static_cast<double>(latent.value_size);
    const double queries =
        q > 0 ? q * (h_ + 1 + a * (plain + turned)) : h_ * a * (plain + turned);
    return queries + h_ * (r + turned) + r + r * a * (plain + value) +
           a * value * h_;
  }

  double FeedForward(double width) const {
    return (model_.gated_ffn() ? 3 : 2) * h_ * width + (bias_ ? width + h_ : 0);
  }

  double FeedForwards() const {
    const double dense = FeedForward(model_.ffn_hidden());
    if (!measured_.mixture) return model_.layers() * dense;
    const workload::Mixture& mixture = *measured_.mixture;
    const auto experts = static_cast<double>(mixture.experts);
    const auto wide = static_cast<double>(mixture.dense_layers);
    const double mixed =
        h_ * experts +
        experts * FeedForward(static_cast<double>(mixture.expert_hidden)) +
        FeedForward(static_cast<double>(mixture.shared_hidden));
    return wide * dense + (model_.layers() - wide) * mixed;
  }

  const Measured& measured_;
  const v1::Model& model_;
  double h_;
  bool bias_;
};

Measured AsMeasured(const v1::Model& model, const std::string& path) {
  Measured measured;
  measured.name = path.substr(sizeof kSet - 1);
  measured.family = measured.name.substr(0, measured.name.find('/'));
  measured.place = path;
  measured.quantity = Quantity::kParameters;
  v1::Job& job = *measured.question.mutable_job();
  *job.mutable_model() = model;
  job.mutable_training()->set_sequence(1);
  job.mutable_training()->set_global_batch(1);
  *measured.question.mutable_cluster() = ClusterOf("a100-80gb-sxm", 1, 8);
  return measured;
}

std::optional<Measured> ReadFile(const DataFolder& folder,
                                 const Spelling& spelling,
                                 const std::string& path,
                                 base::Violations& unreadable) {
  const std::string name = folder.NameOf(path);
  const auto text = folder.Read(path);
  if (!text.ok()) {
    unreadable.Add(name, std::string(text.status().message()));
    return std::nullopt;
  }
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) {
    unreadable.Add(name, "is not an object in JSON");
    return std::nullopt;
  }
  // Descriptions of accelerators lie beside those of models.
  if (json.contains("mem_per_GPU_in_GB")) return std::nullopt;
  ModelFile file(json, name, unreadable);
  Measured measured = AsMeasured(ReadModel(spelling, file), path);
  measured.latent_attention = ReadLatent(file);
  measured.mixture = ReadMixture(file);
  if (!file.ok()) return std::nullopt;
  measured.value = FieldCount(measured).Total();
  return measured;
}

// Of the files that were counted.
Source StatedSizes(const DataFolder& folder, const Source& counted,
                   Measurements& found) {
  Source source = {.name = "Model files, stated size"};
  source.assumptions =
      absl::StrCat("files whose authors state more than a class of sizes; ",
                   counted.assumptions);
  const std::string path = absl::StrCat(kSet, "stated_sizes.csv");
  const auto text = ReadSetFile(folder, path, found);
  if (!text) return source;
  ForEachRow(
      folder.NameOf(path), *text, {"file", "parameters_billion"},
      [&](CsvRow& row) {
        const std::string file = row.Text("file");
        const double parameters = 1e9 * row.Positive("parameters_billion");
        if (!row.ok()) return;
        for (Measured measured : counted.rows) {
          if (measured.name != file) continue;
          measured.value = parameters;
          source.rows.push_back(std::move(measured));
        }
      },
      found.unreadable);
  return source;
}

}  // namespace

void ReadModelFiles(const DataFolder& folder, Measurements& found) {
  Source source = {.name = "Model files, own fields"};
  source.assumptions =
      "blocks alone where no vocabulary is given; two matrices where Llama is "
      "given four times its width; norms and biases as the family has them";
  for (const Spelling& spelling : Spellings()) {
    for (const std::string& path : folder.List(kSet + spelling.folder)) {
      if (!absl::EndsWith(path, ".json")) continue;
      auto measured = ReadFile(folder, spelling, path, found.unreadable);
      if (measured) source.rows.push_back(*std::move(measured));
    }
  }
  if (source.rows.empty()) {
    found.missing.emplace_back("model-configs");
    return;
  }
  Source stated = StatedSizes(folder, source, found);
  found.sources.push_back(std::move(source));
  if (!stated.rows.empty()) found.sources.push_back(std::move(stated));
}

}  // namespace prism::validate
