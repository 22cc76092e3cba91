// Step times and utilisations published in papers, one full configuration a
// row, and times of single layers.
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <cmath>
#include <regex>

#include "client/validate/questions.h"
#include "client/validate/readers.h"
#include "core/hardware/accelerator.h"

namespace prism::validate {
namespace {

namespace v1 = prism::v1;

// Month of a paper by its arXiv number, 2104 for "arXiv 2104.04473 table 1"; a
// late one where there is no such number.
int PaperMonth(const std::string& source) {
  static const std::regex number(R"(arXiv:?\s*(\d{4})\.\d{4,5})");
  std::smatch match;
  return std::regex_search(source, match, number) ? std::stoi(match[1]) : 9999;
}

// FlashAttention is arXiv 2205.14135; Megatron-core and Transformer Engine came
// with the year 2023.
constexpr int kFlashAttention = 2206;
constexpr int kMegatronCore = 2301;
// Megatron-LM reduces beside gradients of weights since December 2021.
constexpr int kAsynchronousReduction = 2112;

void ReadModel(CsvRow& row, v1::Model& model) {
  const bool gated = row.Has("gated_ffn") && row.Flag("gated_ffn");
  model = GptModel(row.Count("layers"), row.Count("hidden"), row.Count("heads"),
                   row.Count("vocabulary"), gated ? 0 : row.Count("sequence"));
  model.set_kv_heads(row.CountOr("kv_heads", 0));
  model.set_ffn_hidden(row.CountOr("ffn_hidden", 0));
  model.set_gated_ffn(gated);
  model.set_untied_embeddings(gated);
}

// Stages that layers do not fill evenly give up one layer for the embedding
// and one for the head.
void SplitLayers(uint32_t layers, v1::Parallelism& parallelism) {
  const uint32_t pipeline = parallelism.pipeline();
  if (parallelism.virtual_stages() == 0) {
    parallelism.set_virtual_stages((layers + 2) % pipeline == 0 &&
                                           layers % pipeline != 0
                                       ? (layers + 2) / pipeline
                                       : 1);
  }
  const uint32_t stages = pipeline * parallelism.virtual_stages();
  if (stages == 0 || layers % stages == 0) return;
  parallelism.set_embedding_as_layer(true);
  parallelism.set_head_as_layer(true);
}

// "fsdp" beside a pipeline keeps weights gathered and reduces gradients once a
// step, so that optimizer states alone are shared out; without one it shares
// out all. It moves them beside computation, others as their framework does.
void ReadSharding(CsvRow& row, v1::Parallelism& parallelism) {
  if (row.TextOr("sharding", "") != "fsdp") {
    parallelism.set_sharding(WordOr(row, "sharding", v1::SHARDING_NONE));
    return;
  }
  parallelism.set_sharding(parallelism.pipeline() > 1 ? v1::SHARDING_ZERO1
                                                      : v1::SHARDING_ZERO3);
  parallelism.mutable_overlap()->set_gradients(true);
  parallelism.mutable_overlap()->set_parameters(true);
}

void ReadParallelism(CsvRow& row, v1::Parallelism& parallelism) {
  parallelism.set_tensor(row.Count("tensor"));
  parallelism.set_context(row.CountOr("context", 1));
  parallelism.set_pipeline(row.Count("pipeline"));
  parallelism.set_virtual_stages(row.CountOr("virtual_stages", 0));
  parallelism.set_data(row.Count("data"));
  parallelism.set_sequence_parallel(row.Has("sequence_parallel") &&
                                    row.Flag("sequence_parallel"));
  // Its groups are tensor, context, pipeline, data, innermost first.
  if (absl::StrContains(row.Text("source"), "2407.21783")) {
    parallelism.set_rank_order(v1::RANK_ORDER_TENSOR_PIPELINE_DATA);
  }
  ReadSharding(row, parallelism);
  SplitLayers(row.Count("layers"), parallelism);
  if (PaperMonth(row.Text("source")) < kAsynchronousReduction) {
    parallelism.mutable_overlap()->set_tensor(false);
  }
  const uint64_t ranks = RanksOf(parallelism);
  if (ranks != row.Count("gpus")) {
    row.Fail("gpus",
             absl::StrCat("is ", row.Text("gpus"),
                          "; must be tensor * context * pipeline * data, "
                          "which is ",
                          ranks));
  }
}

void ReadTraining(CsvRow& row, v1::Training& training) {
  const int month = PaperMonth(row.Text("source"));
  training.set_sequence(row.Count("sequence"));
  training.set_global_batch(row.Count("global_batch"));
  training.set_micro_batch(row.CountOr("micro_batch", 1));
  training.set_precision(WordOr(row, "precision", v1::PRECISION_BF16));
  training.set_recompute(WordOr(row, "recompute", v1::RECOMPUTE_NONE));
  training.set_attention(month < kFlashAttention ? v1::ATTENTION_UNFUSED
                                                 : v1::ATTENTION_FLASH);
  training.set_framework(month < kMegatronCore ? v1::FRAMEWORK_MEGATRON_LM
                                               : v1::FRAMEWORK_MEGATRON_CORE);
}

// "8x400Gb/s RoCE, pods of 3072, 1:7 above": links a node, GPUs a pod and how
// much of their traffic goes beyond. Where only links are named the
// accelerator's own network is meant, if it is the same.
void ReadNetwork(CsvRow& row, v1::Cluster& cluster) {
  static const std::regex links(R"((\d{1,6})\s*x\s*(\d{1,6})\s*Gb/s)");
  static const std::regex pods(R"(pods of (\d{1,9}), 1:(\d{1,6}))");
  const std::string text = row.TextOr("node_network", "");
  const auto* accelerator = hardware::FindAccelerator(cluster.accelerator());
  std::smatch match;
  if (accelerator == nullptr || !std::regex_search(text, match, links)) return;
  const double gigabytes =
      std::stod(match[1]) * std::stod(match[2]) / 8 / cluster.gpus_per_node();
  const bool has_pods = std::regex_search(text, match, pods);
  if (!has_pods && gigabytes * 1e9 == accelerator->network_bytes_per_second) {
    return;
  }
  v1::FabricLevel& node = *cluster.add_fabric();
  node.set_gpus(cluster.gpus_per_node());
  node.set_gigabytes_per_second(accelerator->node_link_bytes_per_second / 1e9);
  v1::FabricLevel& network = *cluster.add_fabric();
  network.set_gigabytes_per_second(gigabytes);
  if (!has_pods) return;
  const auto pod = static_cast<uint32_t>(std::stoul(match[1]));
  if (pod == 0 || pod % cluster.gpus_per_node() != 0) {
    row.Fail("node_network",
             absl::StrCat("has pods of ", pod, " GPUs; must be whole nodes"));
    return;
  }
  network.set_gpus(pod);
  v1::FabricLevel& above = *cluster.add_fabric();
  above.set_gigabytes_per_second(gigabytes);
  above.set_oversubscription(std::stod(match[2]));
  const uint32_t pod_nodes = pod / cluster.gpus_per_node();
  cluster.set_nodes((cluster.nodes() + pod_nodes - 1) / pod_nodes * pod_nodes);
}

Quantity ReadUnit(CsvRow& row) {
  const std::string unit = row.Text("unit");
  if (unit == "seconds") return Quantity::kStep;
  if (unit != "tflops_per_gpu") {
    row.Fail("unit", absl::StrCat("is \"", unit,
                                  "\"; must be seconds or tflops_per_gpu"));
  }
  return absl::StrContains(row.TextOr("remark", ""), "recomputation included")
             ? Quantity::kExecutedFlops
             : Quantity::kModelFlops;
}

v1::Cluster ReadCluster(CsvRow& row) {
  const std::string accelerator = row.Text("accelerator");
  if (hardware::FindAccelerator(accelerator) == nullptr) {
    row.Fail("accelerator",
             absl::StrCat("is \"", accelerator, "\"; must be one of ",
                          hardware::AcceleratorNames()));
  }
  v1::Cluster cluster = ClusterOf(accelerator, row.Count("gpus"),
                                  row.CountOr("gpus_per_node", 8));
  ReadNetwork(row, cluster);
  return cluster;
}

Measured ReadRun(CsvRow& row) {
  Measured measured;
  measured.place = row.place();
  measured.name = row.Text("name");
  measured.family = row.Text("source");
  measured.quantity = ReadUnit(row);
  measured.value = row.Positive("measured");
  v1::Job& job = *measured.question.mutable_job();
  ReadModel(row, *job.mutable_model());
  ReadParallelism(row, *job.mutable_parallelism());
  ReadTraining(row, *job.mutable_training());
  *measured.question.mutable_cluster() = ReadCluster(row);
  return measured;
}

// What was assumed of the rows of a source, by the last of them.
std::string Assumptions(const Measured& measured) {
  const v1::Job& job = measured.question.job();
  std::string text = job.training().attention() == v1::ATTENTION_UNFUSED
                         ? "attention unfused (older than FlashAttention)"
                         : "flash attention";
  if (measured.quantity == Quantity::kModelFlops) {
    text += "; FLOP/s count attention in full and no recomputation";
  } else if (measured.quantity == Quantity::kExecutedFlops) {
    text += "; FLOP/s count recomputation";
  }
  if (job.parallelism().head_as_layer()) {
    absl::StrAppend(&text, "; embedding and head stand for a layer each");
  }
  const v1::Parallelism& split = job.parallelism();
  if (split.overlap().gradients()) {
    absl::StrAppend(&text, "; traffic of shards beside computation",
                    split.pipeline() > 1 ? ", once a step" : "");
  }
  return text;
}

// Rows of layers name forward and backward of one layer of a model whose other
// sizes are a row's as well.
void AddLayer(CsvRow& row, Measurements& found) {
  Measured measured;
  measured.place = row.place();
  measured.family = row.Text("source");
  v1::Job& job = *measured.question.mutable_job();
  ReadModel(row, *job.mutable_model());
  v1::Parallelism& parallelism = *job.mutable_parallelism();
  parallelism.set_tensor(row.Count("tensor"));
  parallelism.set_sequence_parallel(row.Flag("sequence_parallel"));
  ReadTraining(row, *job.mutable_training());
  *measured.question.mutable_cluster() = ReadCluster(row);
  measured.question.set_variation(v1::VARIATION_OFF);  // one group, profiled
  const double forward = row.Positive("forward_ms") / 1e3;
  const double backward = row.Positive("backward_ms") / 1e3;
  const std::string name = row.Text("name");
  if (!row.ok()) return;
  Source& source = SourceNamed(row.Text("source"), found);
  source.assumptions = Assumptions(measured);
  measured.name = name + ", forward";
  measured.quantity = Quantity::kLayerForward;
  measured.value = forward;
  source.rows.push_back(measured);
  measured.name = name + ", backward";
  measured.quantity = Quantity::kLayerBackward;
  measured.value = backward;
  source.rows.push_back(measured);
}

}  // namespace

void ReadPublishedRows(const std::string& name, const std::string& text,
                       Measurements& found) {
  const auto add = [&](CsvRow& row) {
    const Measured measured = ReadRun(row);
    if (!row.ok()) return;
    Source& source = SourceNamed(row.Text("source"), found);
    source.assumptions = Assumptions(measured);
    source.rows.push_back(measured);
  };
  ForEachRow(name, text,
             {"source", "name", "accelerator", "gpus", "layers", "hidden",
              "heads", "vocabulary", "sequence", "tensor", "pipeline", "data",
              "global_batch", "measured", "unit"},
             add, found.unreadable);
}

void ReadLayerTimes(const std::string& name, const std::string& text,
                    Measurements& found) {
  ForEachRow(
      name, text,
      {"source", "name", "accelerator", "gpus", "layers", "hidden", "heads",
       "vocabulary", "sequence", "tensor", "global_batch", "sequence_parallel",
       "forward_ms", "backward_ms"},
      [&](CsvRow& row) { AddLayer(row, found); }, found.unreadable);
}

void ReadPublishedSet(const DataFolder& folder, Measurements& found) {
  std::string path = "published/published.csv";
  if (const auto text = ReadSetFile(folder, path, found)) {
    ReadPublishedRows(folder.NameOf(path), *text, found);
  }
  path = "published/layer_times.csv";
  if (const auto text = ReadSetFile(folder, path, found)) {
    ReadLayerTimes(folder.NameOf(path), *text, found);
  }
}

}  // namespace prism::validate
