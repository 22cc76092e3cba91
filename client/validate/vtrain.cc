// Megatron-LM iterations on DGX A100 machines, the validation set of the vTrain
// simulator.
#include <absl/strings/str_cat.h>

#include "client/validate/questions.h"
#include "client/validate/readers.h"

namespace prism::validate {
namespace {

namespace v1 = prism::v1;

constexpr char kSet[] = "vtrain-a100-iteration-times/";
constexpr uint32_t kVocabulary = 51200;

// What the two tables have in common.
const std::vector<std::string>& Columns() {
  static const std::vector<std::string> columns = {
      "gpus",  "global_batch", "micro_batch", "hidden",
      "heads", "layers",       "seq_len",     "tp",
      "dp",    "pp",           "iter_time_ms"};
  return columns;
}

void SetParallelism(CsvRow& row, v1::Job& job) {
  v1::Parallelism& parallelism = *job.mutable_parallelism();
  parallelism.set_tensor(row.Count("tp"));
  parallelism.set_data(row.Count("dp"));
  parallelism.set_pipeline(row.Count("pp"));
  const uint64_t ranks = RanksOf(parallelism);
  if (ranks != row.Count("gpus")) {
    row.Fail("gpus", absl::StrCat("is ", row.Text("gpus"),
                                  "; must be tp * dp * pp, which is ", ranks));
  }
}

// Four network cards of 200 Gb/s for the eight GPUs of a node: what tensor
// groups over two nodes and gradients of 8 to 32 replicas show alike.
void SetNetwork(v1::Cluster& cluster) {
  if (cluster.nodes() == 1) return;
  v1::FabricLevel& node = *cluster.add_fabric();
  node.set_gpus(cluster.gpus_per_node());
  node.set_gigabytes_per_second(300);
  v1::FabricLevel& network = *cluster.add_fabric();
  network.set_gigabytes_per_second(25);
  network.set_oversubscription(2);
}

Measured Read(CsvRow& row) {
  Measured measured;
  measured.value = row.Positive("iter_time_ms") / 1e3;
  v1::Job& job = *measured.question.mutable_job();
  const uint32_t sequence = row.Count("seq_len");
  *job.mutable_model() = GptModel(row.Count("layers"), row.Count("hidden"),
                                  row.Count("heads"), kVocabulary, sequence);
  SetParallelism(row, job);
  v1::Training& training = *job.mutable_training();
  training.set_sequence(sequence);
  training.set_global_batch(row.Count("global_batch"));
  training.set_micro_batch(row.Count("micro_batch"));
  training.set_precision(v1::PRECISION_FP16);
  training.set_recompute(v1::RECOMPUTE_FULL);
  training.set_attention(v1::ATTENTION_UNFUSED);
  *measured.question.mutable_cluster() =
      ClusterOf("a100-80gb-sxm", row.Count("gpus"), 8);
  SetNetwork(*measured.question.mutable_cluster());
  return measured;
}

// "t8 d8 p4 b2": how a job is split.
std::string Layout(const CsvRow& row) {
  return absl::StrCat("t", row.TextOr("tp", ""), " d", row.TextOr("dp", ""),
                      " p", row.TextOr("pp", ""), " b",
                      row.TextOr("micro_batch", ""));
}

Measured ReadMultiNode(CsvRow& row) {
  Measured measured = Read(row);
  measured.family = row.Text("params_billion") + "B";
  measured.name = absl::StrCat(measured.family, " ", Layout(row));
  return measured;
}

// One table has every size of model on every number of GPUs.
Measured ReadSingleNode(CsvRow& row) {
  Measured measured = Read(row);
  measured.family = row.Text("gpus") + " GPUs";
  // Nobody waits for a slower GPU than the one that was profiled.
  measured.question.set_variation(v1::VARIATION_OFF);
  measured.name =
      absl::StrCat("h", row.Text("hidden"), " l", row.Text("layers"), " a",
                   row.Text("heads"), " s", row.Text("seq_len"), " B",
                   row.Text("global_batch"), " ", Layout(row));
  return measured;
}

}  // namespace

void ReadVtrain(const DataFolder& folder, Measurements& found) {
  std::string path = absl::StrCat(kSet, "multi_node.csv");
  std::vector<std::string> columns = Columns();
  columns.push_back("params_billion");
  if (const auto text = ReadSetFile(folder, path, found)) {
    Source& source = SourceNamed("vTrain multi-node", found);
    source.assumptions =
        "recomputation, vocabulary, precision and network are not stated: "
        "full, 51200, fp16 and four cards of 200 Gb/s a node, which the times "
        "suggest; unfused attention";
    AddRows(folder.NameOf(path), *text, columns, source, found.unreadable,
            ReadMultiNode);
  }
  path = absl::StrCat(kSet, "single_node.csv");
  if (const auto text = ReadSetFile(folder, path, found)) {
    Source& source = SourceNamed("vTrain single-node", found);
    source.assumptions =
        "recomputation, vocabulary and precision are not stated: full, 51200 "
        "and fp16, which the times suggest; unfused attention; times are "
        "linear in layers and micro-batches to the last digit: sums of "
        "profiled operators, not timed iterations";
    AddRows(folder.NameOf(path), *text, Columns(), source, found.unreadable,
            ReadSingleNode);
  }
}

}  // namespace prism::validate
