// Megatron-core on eight B200, the validation set of the SimuMax simulator:
// step time and peak memory.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <regex>

#include "client/validate/questions.h"
#include "client/validate/readers.h"

namespace prism::validate {
namespace {

namespace v1 = prism::v1;
using Json = nlohmann::json;

constexpr char kRows[] = "throughput-tables/simumax-b200/rows.json";
constexpr char kModels[] = "model-configs/SimuMax/";
constexpr uint32_t kGpus = 8;
constexpr double kGib = 1024.0 * 1024 * 1024;

// One row: its getters add what is wrong to `wrong`.
class JsonRow {
 public:
  JsonRow(const Json& json, std::string place, base::Violations& wrong)
      : json_(json), place_(std::move(place)), wrong_(wrong) {}

  const std::string& place() const { return place_; }
  bool ok() const { return ok_; }

  void Fail(const char* key, std::string_view accepted) {
    const std::string is =
        json_.contains(key) ? "is " + json_[key].dump() : "is missing";
    wrong_.Add(absl::StrCat(place_, ": ", key),
               absl::StrCat(is, "; must be ", std::string(accepted)));
    ok_ = false;
  }

  std::string Text(const char* key) {
    if (json_.contains(key) && json_[key].is_string()) return json_[key];
    Fail(key, "a text");
    return "";
  }

  double Positive(const char* key) {
    if (json_.contains(key) && json_[key].is_number() && json_[key] > 0) {
      return json_[key];
    }
    Fail(key, "a number above 0");
    return 1;
  }

  uint32_t Count(const char* key) {
    if (json_.contains(key) && json_[key].is_number_unsigned() &&
        json_[key] >= 1 && json_[key] <= UINT32_MAX) {
      return json_[key];
    }
    Fail(key, "a whole number of at least 1");
    return 1;
  }

  // Nothing where the row does not say.
  std::optional<bool> Flag(const char* key) {
    if (!json_.contains(key)) return std::nullopt;
    if (json_[key].is_boolean()) return json_[key].get<bool>();
    Fail(key, "true or false");
    return std::nullopt;
  }

 private:
  const Json& json_;
  std::string place_;
  base::Violations& wrong_;
  bool ok_ = true;
};

// The number behind `letters` in "llama3_70b_l12_tp2_cp4_pp1_dp1_seq32768".
uint32_t PartOf(const std::string& name, const std::string& letters,
                uint32_t fallback) {
  std::smatch match;
  const std::regex part("(?:^|_)" + letters + "([1-9][0-9]{0,8})(?:_|$)");
  if (!std::regex_search(name, match, part)) return fallback;
  return static_cast<uint32_t>(std::stoul(match[1]));
}

// The text of a model's file; rows of other folders name models whose files lie
// in the repository.
std::optional<std::string> ModelFile(const DataFolder& folder,
                                     const std::string& name) {
  // Layers padded to a whole number a stage; rows state their own.
  for (const char* ending : {".json", "_padding_128.json"}) {
    const std::string path = absl::StrCat(kModels, name, ending);
    auto text = folder.Read(path);
    if (!text.ok()) text = RepositoryFolder()->Read(path);
    if (text.ok()) return *std::move(text);
  }
  return std::nullopt;
}

// A model by its file, which may differ from what was published, or else as
// published. Nothing for mixtures of experts.
std::optional<v1::Model> FindModel(const DataFolder& folder,
                                   const std::string& name) {
  const auto text = ModelFile(folder, name);
  if (!text.has_value()) {
    return name.find("llama3-") == 0 ? Llama3Model(name.substr(7))
                                     : std::nullopt;
  }
  const Json file = Json::parse(*text, nullptr, false);
  if (!file.is_object() || file.contains("expert_num")) return std::nullopt;
  const auto count = [&](const char* key) -> uint32_t {
    const auto field = file.find(key);
    return field != file.end() && field->is_number_unsigned() ? uint32_t{*field}
                                                              : 0;
  };
  v1::Model model;
  model.set_layers(count("layer_num"));
  model.set_hidden(count("hidden_size"));
  model.set_heads(count("head_num"));
  model.set_kv_heads(count("kv_head_num"));
  model.set_head_size(count("head_size"));
  model.set_ffn_hidden(count("intermediate_size"));
  model.set_vocabulary(count("vocab_size"));
  model.set_gated_ffn(file.value("use_swiglu", false));
  model.set_untied_embeddings(true);
  model.set_linear_bias(false);
  return model;
}

void SetJob(JsonRow& row, const std::string& name, v1::Job& job) {
  v1::Parallelism& parallelism = *job.mutable_parallelism();
  parallelism.set_tensor(PartOf(name, "tp", 1));
  parallelism.set_context(PartOf(name, "cp", 1));
  parallelism.set_context_kind(v1::CONTEXT_KIND_ALL_TO_ALL);
  parallelism.set_pipeline(PartOf(name, "pp", 1));
  parallelism.set_virtual_stages(row.Count("vp_size"));
  parallelism.set_data(PartOf(name, "dp", 1));
  parallelism.set_sequence_parallel(parallelism.tensor() > 1);
  parallelism.set_sharding(v1::SHARDING_ZERO1);
  if (const auto sends = row.Flag("pp_comm_async"))
    parallelism.mutable_overlap()->set_pipeline(*sends);
  v1::Training& training = *job.mutable_training();
  training.set_sequence(PartOf(name, "seq", 4096));
  training.set_micro_batch(1);
  training.set_global_batch(row.Count("mbc") * parallelism.data());
  training.set_precision(v1::PRECISION_BF16);
  training.set_framework(v1::FRAMEWORK_MEGATRON_CORE);
  training.set_fused_cross_entropy(absl::EndsWith(name, "_cef"));
}

Measured Read(const DataFolder& folder, JsonRow& row) {
  Measured measured;
  measured.place = row.place();
  measured.name = row.Text("case");
  const std::string model_name = row.Text("model");
  measured.family = model_name;
  v1::Job& job = *measured.question.mutable_job();
  SetJob(row, measured.name, job);
  if (const auto model = FindModel(folder, model_name)) {
    *job.mutable_model() = *model;
    job.mutable_model()->set_layers(row.Count("layer_num"));
  } else {
    measured.not_covered =
        PartOf(measured.name, "ep", 0) > 0
            ? "a mixture of experts"
            : absl::StrCat("no dense model is known as ", model_name);
  }
  *measured.question.mutable_cluster() =
      ClusterOf(AcceleratorLike("b200-").value_or("b200"), kGpus, kGpus);
  return measured;
}

void Add(const DataFolder& folder, JsonRow& row, Source& times,
         Source& memory) {
  Measured measured = Read(folder, row);
  const double milliseconds = row.Positive("real_ms");
  const double gib = row.Positive("real_alloc_gib");
  if (!row.ok()) return;
  measured.value = milliseconds / 1e3;
  times.rows.push_back(measured);
  measured.quantity = Quantity::kPeakMemory;
  measured.value = gib * kGib;
  memory.rows.push_back(std::move(measured));
}

}  // namespace

void ReadSimumax(const DataFolder& folder, Measurements& found) {
  const auto text = ReadSetFile(folder, kRows, found);
  if (!text) return;
  const std::string name = folder.NameOf(kRows);
  const Json rows = Json::parse(*text, nullptr, false);
  if (!rows.is_array()) {
    found.unreadable.Add(name, "is not a list in JSON");
    return;
  }
  Source times = {.name = "SimuMax B200 step time"};
  times.assumptions =
      "sequence 4096 unless its name says another, micro-batch 1, distributed "
      "optimizer and 32-bit gradients, as the strategy files say; no "
      "recomputation; context groups exchange all to all, as the simulator "
      "does";
  Source memory = times;
  memory.name = "SimuMax B200 peak memory";
  memory.assumptions += "; without what the allocator holds in reserve";
  for (size_t i = 0; i < rows.size(); ++i) {
    JsonRow row(rows[i], absl::StrCat(name, "[", i, "]"), found.unreadable);
    Add(folder, row, times, memory);
  }
  found.sources.push_back(std::move(times));
  found.sources.push_back(std::move(memory));
}

}  // namespace prism::validate
