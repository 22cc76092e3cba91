#include "client/validate/questions.h"

#include <absl/strings/match.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <utility>

#include "core/hardware/accelerator.h"

namespace prism::validate {
namespace {

namespace v1 = prism::v1;

// Layers, hidden, heads, feed-forward.
v1::Model Llama3(uint32_t layers, uint32_t hidden, uint32_t heads,
                 uint32_t ffn_hidden) {
  v1::Model model;
  model.set_layers(layers);
  model.set_hidden(hidden);
  model.set_heads(heads);
  model.set_kv_heads(8);
  model.set_ffn_hidden(ffn_hidden);
  model.set_gated_ffn(true);
  model.set_vocabulary(128256);
  model.set_untied_embeddings(true);
  return model;
}

}  // namespace

v1::Model GptModel(uint32_t layers, uint32_t hidden, uint32_t heads,
                   uint32_t vocabulary, uint32_t sequence) {
  v1::Model model;
  model.set_layers(layers);
  model.set_hidden(hidden);
  model.set_heads(heads);
  model.set_vocabulary(vocabulary);
  model.set_position_embeddings(sequence);
  return model;
}

std::optional<v1::Model> Llama3Model(std::string_view size) {
  if (size == "8b") return Llama3(32, 4096, 32, 14336);
  if (size == "70b") return Llama3(80, 8192, 64, 28672);
  if (size == "405b") return Llama3(126, 16384, 128, 53248);
  return std::nullopt;
}

v1::Cluster ClusterOf(std::string_view accelerator, uint32_t gpus,
                      uint32_t gpus_per_node) {
  v1::Cluster cluster;
  cluster.set_accelerator(std::string(accelerator));
  cluster.set_nodes((gpus + gpus_per_node - 1) / gpus_per_node);
  cluster.set_gpus_per_node(gpus_per_node);
  return cluster;
}

std::optional<std::string> AcceleratorLike(std::string_view prefix) {
  for (const hardware::Accelerator& known : hardware::AcceleratorCatalogue()) {
    if (known.name.substr(0, prefix.size()) == prefix) {
      return std::string(known.name);
    }
  }
  return std::nullopt;
}

uint64_t RanksOf(const v1::Parallelism& parallelism) {
  uint64_t ranks = 1;
  for (const uint32_t size : {parallelism.tensor(), parallelism.context(),
                              parallelism.pipeline(), parallelism.data()}) {
    if (ranks > UINT32_MAX) return UINT64_MAX;
    ranks *= std::max(1U, size);
  }
  return ranks;
}

Source& SourceNamed(std::string_view name, Measurements& found) {
  for (Source& source : found.sources) {
    if (source.name == name) return source;
  }
  found.sources.push_back({.name = std::string(name)});
  return found.sources.back();
}

std::optional<std::string> ReadSetFile(const DataFolder& folder,
                                       const std::string& path,
                                       Measurements& found) {
  auto text = folder.Read(path);
  if (text.ok()) return *std::move(text);
  if (absl::IsNotFound(text.status())) {
    found.missing.push_back(path);
  } else {
    found.unreadable.Add(folder.NameOf(path),
                         std::string(text.status().message()));
  }
  return std::nullopt;
}

void AddRows(const std::string& name, const std::string& text,
             const std::vector<std::string>& columns, Source& source,
             base::Violations& unreadable,
             const std::function<Measured(CsvRow&)>& read) {
  const auto add = [&](CsvRow& row) {
    Measured measured = read(row);
    if (!row.ok()) return;
    measured.place = row.place();
    source.rows.push_back(std::move(measured));
  };
  ForEachRow(name, text, columns, add, unreadable);
}

}  // namespace prism::validate
