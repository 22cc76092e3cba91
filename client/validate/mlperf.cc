// Pre-training runs submitted to MLPerf Training v5.0 and v5.1.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <array>
#include <map>
#include <utility>

#include "client/validate/questions.h"
#include "client/validate/readers.h"

namespace prism::validate {
namespace {

namespace v1 = prism::v1;

constexpr char kSet[] = "mlperf-llm-step-times/";

using Settings = std::map<std::string, std::string>;

// KEY=VALUE lines of the submitter's configuration; empty where there is none.
Settings ReadSettings(const DataFolder& folder, const std::string& id) {
  Settings settings;
  const auto text = folder.Read(absl::StrCat(kSet, "config/", id, ".env.txt"));
  if (!text.ok()) return settings;
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    const std::vector<std::string> parts =
        absl::StrSplit(line, absl::MaxSplits('=', 1));
    if (parts.size() == 2) settings[parts[0]] = parts[1];
  }
  return settings;
}

bool IsTrue(const Settings& settings, const std::string& key) {
  const auto setting = settings.find(key);
  return setting != settings.end() &&
         (setting->second == "True" || setting->second == "1");
}

// Names in the table, by a part of them; catalogue names by their beginning.
constexpr std::array<std::pair<const char*, const char*>, 8> kGpus = {
    {{"GB300", "gb300-"},
     {"GB200", "gb200-"},
     {"B300", "b300-"},
     {"B200", "b200-"},
     {"H200", "h200-"},
     {"H100", "h100-80gb-sxm"},
     {"MI325X", "mi325x-"},
     {"MI300X", "mi300x-"}}};

std::string ReadAccelerator(CsvRow& row, std::string& not_covered) {
  const std::string gpu = row.Text("gpu");
  for (const auto& [part, prefix] : kGpus) {
    if (!absl::StrContains(gpu, part)) continue;
    if (const auto known = AcceleratorLike(prefix)) return *known;
    break;
  }
  not_covered = absl::StrCat("the catalogue has no ", gpu);
  return "";
}

v1::Model ReadModel(CsvRow& row) {
  const std::string benchmark = row.Text("benchmark");
  if (benchmark == "llama31_405b") return *Llama3Model("405b");
  if (benchmark == "llama31_8b") return *Llama3Model("8b");
  row.Fail("benchmark", absl::StrCat("is \"", benchmark,
                                     "\"; must be llama31_405b or llama31_8b"));
  return {};
}

void ReadParallelism(CsvRow& row, const Settings& settings,
                     v1::Parallelism& parallelism) {
  parallelism.set_tensor(row.Count("tp"));
  parallelism.set_pipeline(row.Count("pp"));
  parallelism.set_virtual_stages(row.CountOr("vp", 1));
  parallelism.set_context(row.CountOr("cp", 1));
  const uint64_t replica = RanksOf(parallelism);
  const uint32_t gpus = row.Count("gpus");
  if (gpus % replica != 0) {
    row.Fail("gpus", absl::StrCat("is ", gpus,
                                  "; must be a multiple of tp * "
                                  "pp * cp, which is ",
                                  replica));
  }
  parallelism.set_data(static_cast<uint32_t>(gpus / replica));
  parallelism.set_sequence_parallel(parallelism.tensor() > 1);
  parallelism.set_sharding(v1::SHARDING_ZERO1);
  parallelism.set_embedding_as_layer(IsTrue(settings, "ASYM_PP_EMBED"));
  parallelism.set_head_as_layer(IsTrue(settings, "ASYM_PP_LOSS"));
  if (IsTrue(settings, "TP_PP_DP_MAPPING")) {
    parallelism.set_rank_order(v1::RANK_ORDER_TENSOR_PIPELINE_DATA);
  }
  v1::Overlap& overlap = *parallelism.mutable_overlap();
  overlap.set_gradients(true);
  overlap.set_parameters(true);
  overlap.set_tensor(parallelism.tensor() > 1 &&
                     IsTrue(settings, "TP_COMM_OVERLAP"));
}

void ReadTraining(CsvRow& row, v1::Training& training) {
  training.set_sequence(row.Count("seq"));
  training.set_global_batch(row.Count("gbs"));
  training.set_micro_batch(row.Count("mbs"));
  training.set_precision(absl::StrContains(row.TextOr("config", ""), "_fp4")
                             ? v1::PRECISION_FP4
                             : v1::PRECISION_FP8);
  training.set_framework(v1::FRAMEWORK_MEGATRON_CORE);
  training.set_fp32_gradients(false);
}

// "GB200 fp4": rows that share a table of speeds.
std::string Family(const Measured& measured) {
  const std::string& accelerator = measured.question.cluster().accelerator();
  const bool fp4 =
      measured.question.job().training().precision() == v1::PRECISION_FP4;
  return absl::StrCat(accelerator.substr(0, accelerator.find('-')),
                      fp4 ? " fp4" : " fp8");
}

Measured Read(const DataFolder& folder, CsvRow& row) {
  Measured measured;
  measured.name = row.Text("id");
  measured.value = row.Positive("median_s");
  const uint32_t gpus = row.Count("gpus");
  if (!row.Has("tp")) {
    measured.not_covered = "its parallelism was not published";
    return measured;
  }
  const Settings settings = ReadSettings(folder, measured.name);
  v1::Job& job = *measured.question.mutable_job();
  *job.mutable_model() = ReadModel(row);
  ReadParallelism(row, settings, *job.mutable_parallelism());
  ReadTraining(row, *job.mutable_training());
  *measured.question.mutable_cluster() =
      ClusterOf(ReadAccelerator(row, measured.not_covered), gpus,
                row.Count("gpus_per_node"));
  measured.family = Family(measured);
  return measured;
}

constexpr char kAssumptions[] =
    "fp8, fp4 where the configuration's name says so; no recomputation, "
    "distributed optimizer, 16-bit gradients, gradients and parameters "
    "overlapped, sequence parallel with tensor groups; links of the catalogue";

}  // namespace

void ReadMlperf(const DataFolder& folder, Measurements& found) {
  const std::string path = absl::StrCat(kSet, "index.csv");
  const auto text = ReadSetFile(folder, path, found);
  if (!text) return;
  SourceNamed("MLPerf Llama 3.1 405B", found).assumptions = kAssumptions;
  SourceNamed("MLPerf Llama 3.1 8B, settings guessed", found).assumptions =
      absl::StrCat("settings by node count alone; ", kAssumptions);
  const auto add = [&](CsvRow& row) {
    Measured measured = Read(folder, row);
    if (!row.ok()) return;
    measured.place = row.place();
    const bool exact = row.TextOr("config_match", "") == "exact";
    const bool large = row.TextOr("benchmark", "") == "llama31_405b";
    SourceNamed(absl::StrCat("MLPerf Llama 3.1 ", large ? "405B" : "8B",
                             exact ? "" : ", settings guessed"),
                found)
        .rows.push_back(std::move(measured));
  };
  ForEachRow(
      folder.NameOf(path), *text,
      {"id", "benchmark", "gpus", "gpus_per_node", "gpu", "gbs", "seq", "tp",
       "pp", "vp", "cp", "mbs", "config", "config_match", "median_s"},
      add, found.unreadable);
}

}  // namespace prism::validate
