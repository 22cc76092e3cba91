// Iterations of BLOOM-176B as its log lines give them, in the chronicles of the
// BigScience workshop.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <regex>

#include "client/validate/questions.h"
#include "client/validate/readers.h"

namespace prism::validate {
namespace {

namespace v1 = prism::v1;

constexpr char kLog[] =
    "megatron-log-lines-bigscience/tr11-176B-ml-chronicles.log";
constexpr uint32_t kGlobalBatch = 2048;

// Seconds of the iterations of a full batch; other lines say nothing of it.
std::vector<double> IterationSeconds(const std::string& text) {
  static const std::regex times(
      R"(elapsed time per iteration \((m?)s\): ([0-9]{1,9}(?:\.[0-9]{1,9})?))");
  static const std::regex batch(R"(global batch size: *([0-9]{1,9}) )");
  std::vector<double> seconds;
  for (const absl::string_view part : absl::StrSplit(text, '\n')) {
    const std::string line(part);
    std::smatch time;
    std::smatch size;
    if (!std::regex_search(line, time, times)) continue;
    if (!std::regex_search(line, size, batch)) continue;
    if (std::stoul(size[1]) != kGlobalBatch) continue;
    const double value = std::stod(time[2]) / (time[1] == "m" ? 1e3 : 1);
    if (value > 0) seconds.push_back(value);
  }
  return seconds;
}

// The lower of two in the middle. Requires: not empty.
double Median(std::vector<double> values) {
  const auto middle = values.begin() + (std::ssize(values) - 1) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// As the workshop's launch script says (tr11-176B-ml.slurm).
v1::Job BloomJob() {
  v1::Job job;
  *job.mutable_model() = GptModel(70, 14336, 112, 250880, 0);
  v1::Parallelism& parallelism = *job.mutable_parallelism();
  parallelism.set_tensor(4);
  parallelism.set_pipeline(12);
  parallelism.set_data(8);
  parallelism.set_embedding_as_layer(true);
  parallelism.set_head_as_layer(true);
  parallelism.set_sharding(v1::SHARDING_ZERO1);
  v1::Training& training = *job.mutable_training();
  training.set_sequence(2048);
  training.set_global_batch(kGlobalBatch);
  training.set_micro_batch(2);
  training.set_precision(v1::PRECISION_BF16);
  training.set_recompute(v1::RECOMPUTE_FULL);
  training.set_attention(v1::ATTENTION_UNFUSED);
  return job;
}

// Jean Zay: four links of Omni-Path at 100 Gb/s for the eight GPUs of a node.
v1::Cluster JeanZay() {
  v1::Cluster cluster = ClusterOf("a100-80gb-sxm", 384, 8);
  v1::FabricLevel& node = *cluster.add_fabric();
  node.set_gpus(8);
  node.set_gigabytes_per_second(300);
  cluster.add_fabric()->set_gigabytes_per_second(6.25);
  return cluster;
}

}  // namespace

void ReadBigscience(const DataFolder& folder, Measurements& found) {
  const auto text = ReadSetFile(folder, kLog, found);
  if (!text) return;
  const std::vector<double> seconds = IterationSeconds(*text);
  if (seconds.empty()) {
    found.unreadable.Add(
        folder.NameOf(kLog),
        absl::StrCat("has no iteration of a batch of ", kGlobalBatch));
    return;
  }
  Source& source = SourceNamed("BLOOM-176B log", found);
  source.assumptions = absl::StrCat(
      "the median of ", seconds.size(),
      " logged iterations; layout of the launch script, full recomputation, "
      "unfused attention, sharded optimizer, four links of 100 Gb/s a node");
  Measured& row = source.rows.emplace_back();
  row.name = "384 A100, t4 d8 p12 b2";
  row.family = "BLOOM-176B";
  row.place = folder.NameOf(kLog);
  row.value = Median(seconds);
  *row.question.mutable_job() = BloomJob();
  *row.question.mutable_cluster() = JeanZay();
}

}  // namespace prism::validate
