// MPT models trained by llm-foundry with PyTorch's fully sharded data parallel.
#include <absl/strings/str_cat.h>

#include <array>
#include <cmath>

#include "client/validate/questions.h"
#include "client/validate/readers.h"

namespace prism::validate {
namespace {

namespace v1 = prism::v1;

constexpr char kTable[] = "throughput-tables/llm-foundry/fsdp_throughput.csv";
constexpr uint32_t kVocabulary = 50368;

// The published family: llm-foundry, scripts/train/benchmarking.
struct Size {
  std::string_view name;
  uint32_t layers;
  uint32_t hidden;
  uint32_t heads;
};
constexpr std::array kFamily = {
    Size{"125m", 12, 768, 12},  Size{"350m", 24, 1024, 16},
    Size{"760m", 24, 1536, 12}, Size{"1b", 24, 2048, 16},
    Size{"3b", 32, 2560, 20},   Size{"7b", 32, 4096, 32},
    Size{"13b", 40, 5120, 40},  Size{"30b", 48, 7168, 56},
    Size{"70b", 80, 8192, 64}};

// Without biases, with tied embeddings and as many learned positions as the
// sequence.
double Parameters(const Size& size, uint32_t sequence) {
  const double h = size.hidden;
  return size.layers * (12 * h * h + 2 * h) + h + h * (kVocabulary + sequence);
}

// A size whose count is not the row's within 1% is another model.
v1::Model ReadModel(CsvRow& row) {
  const std::string name = row.Text("model");
  const uint32_t sequence = row.Count("seq_len");
  for (const Size& size : kFamily) {
    if (size.name != name) continue;
    const double count = Parameters(size, sequence);
    if (std::abs(row.Positive("num_params") / count - 1) > 0.01) {
      row.Fail("num_params", absl::StrCat("is ", row.Text("num_params"),
                                          "; must be within 1% of ", count,
                                          ", which a ", name, " has"));
    }
    v1::Model model =
        GptModel(size.layers, size.hidden, size.heads, kVocabulary, sequence);
    model.set_linear_bias(false);
    return model;
  }
  row.Fail("model",
           absl::StrCat("is \"", name, "\"; must be a size from 125m to 70b"));
  return {};
}

void ReadSharding(CsvRow& row, v1::Parallelism& parallelism) {
  const std::string sharding = row.Text("sharding");
  if (sharding == "FULL_SHARD") {
    parallelism.set_sharding(v1::SHARDING_ZERO3);
  } else if (sharding == "SHARD_GRAD_OP") {
    parallelism.set_sharding(v1::SHARDING_ZERO2);
  } else {
    row.Fail("sharding", absl::StrCat("is \"", sharding,
                                      "\"; must be FULL_SHARD or "
                                      "SHARD_GRAD_OP"));
  }
}

v1::Precision ReadPrecision(CsvRow& row) {
  const std::string precision = row.Text("precision");
  if (precision == "amp_fp8") return v1::PRECISION_FP8;
  if (precision == "amp_fp16" || precision == "fp16") return v1::PRECISION_FP16;
  if (precision != "amp_bf16" && precision != "bf16") {
    row.Fail("precision",
             absl::StrCat("is \"", precision,
                          "\"; must be bf16, amp_bf16, fp16, amp_fp16 or "
                          "amp_fp8"));
  }
  return v1::PRECISION_BF16;
}

std::string ReadAccelerator(CsvRow& row) {
  const std::string gpu = row.Text("gpu");
  if (gpu == "a100_40gb") return "a100-40gb-sxm";
  if (gpu == "a100_80gb") return "a100-80gb-sxm";
  if (gpu == "h100_80gb") return "h100-80gb-sxm";
  row.Fail("gpu", absl::StrCat("is \"", gpu,
                               "\"; must be a100_40gb, a100_80gb "
                               "or h100_80gb"));
  return "";
}

Measured Read(CsvRow& row) {
  Measured measured;
  v1::Job& job = *measured.question.mutable_job();
  *job.mutable_model() = ReadModel(row);
  job.mutable_parallelism()->set_data(row.Count("gpus"));
  ReadSharding(row, *job.mutable_parallelism());
  v1::Training& training = *job.mutable_training();
  training.set_sequence(row.Count("seq_len"));
  training.set_global_batch(row.Count("global_batch"));
  training.set_micro_batch(row.Count("micro_batch"));
  training.set_precision(ReadPrecision(row));
  training.set_recompute(row.Flag("act_ckpt") ? v1::RECOMPUTE_FULL
                                              : v1::RECOMPUTE_NONE);
  training.set_framework(v1::FRAMEWORK_FSDP);
  *measured.question.mutable_cluster() =
      ClusterOf(ReadAccelerator(row), row.Count("gpus"), 8);
  // samples_per_s is rounded to whole numbers.
  measured.value = double{1} * row.Count("global_batch") *
                   row.Count("seq_len") / row.Positive("tokens_per_s");
  measured.family = row.Text("gpu");
  measured.name =
      absl::StrCat(row.Text("model"), " s", row.Text("seq_len"), " on ",
                   row.Text("gpus"), " ", row.Text("gpu"), " b",
                   row.Text("micro_batch"), " ", row.Text("precision"));
  return measured;
}

}  // namespace

void ReadLlmFoundry(const DataFolder& folder, Measurements& found) {
  const auto text = ReadSetFile(folder, kTable, found);
  if (!text) return;
  Source& source = SourceNamed("llm-foundry", found);
  source.assumptions =
      "sizes of the MPT family by name, without biases, a vocabulary of 50368; "
      "flash attention; usual networks of a cloud (see the catalogue)";
  AddRows(folder.NameOf(kTable), *text,
          {"model", "seq_len", "gpus", "gpu", "micro_batch", "global_batch",
           "tokens_per_s", "precision", "sharding", "act_ckpt", "num_params"},
          source, found.unreadable, Read);
}

}  // namespace prism::validate
