// Llama 3.1 on H100, tables of torchtitan's documentation.
//
// A table has a bold paragraph before it that says what its rows have in
// common; a cell of a row may say otherwise.
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>

#include <regex>

#include "client/validate/questions.h"
#include "client/validate/readers.h"

namespace prism::validate {
namespace {

namespace v1 = prism::v1;

constexpr char kFolder[] = "throughput-tables/torchtitan";
constexpr uint32_t kSequence = 8192;

using Cells = std::vector<std::string>;

// A row of a table with what stands around it.
struct TableRow {
  std::string place;
  std::string title;  // of the table
  Cells heading;
  Cells cells;

  // The first number behind `before` in the row, or else in the title.
  uint32_t Number(const std::string& before, uint32_t fallback) const {
    const std::regex number(before + R"( ?([1-9][0-9]{0,8}))");
    for (const std::string* text : {&cells[0], &title}) {
      std::smatch match;
      if (std::regex_search(*text, match, number)) {
        return static_cast<uint32_t>(std::stoul(match[1]));
      }
    }
    return fallback;
  }

  bool Says(const std::string& word) const {
    return absl::StrContains(cells[0], word) || absl::StrContains(title, word);
  }

  // The cell of `column`, without thousands separators; empty if there is none.
  std::string Cell(std::string_view column) const {
    for (size_t i = 0; i < heading.size() && i < cells.size(); ++i) {
      if (heading[i] == column) {
        return absl::StrReplaceAll(cells[i], {{",", ""}});
      }
    }
    return "";
  }
};

Cells SplitRow(absl::string_view line) {
  Cells cells = absl::StrSplit(line, '|');
  for (std::string& cell : cells) absl::StripAsciiWhitespace(&cell);
  // The line begins and ends with a bar.
  if (!cells.empty()) cells.erase(cells.begin());
  if (!cells.empty()) cells.pop_back();
  return cells;
}

std::vector<TableRow> FindRows(const std::string& name,
                               const std::string& text) {
  std::vector<TableRow> rows;
  TableRow row;
  int line_number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (absl::StartsWith(line, "**")) {
      row.title = std::string(line);
      row.heading.clear();
    } else if (!absl::StartsWith(line, "|")) {
      if (!line.empty()) row.title.clear();
    } else if (row.title.empty() || absl::StrContains(line, "| ---")) {
      continue;
    } else if (row.heading.empty()) {
      row.heading = SplitRow(line);
    } else {
      row.cells = SplitRow(line);
      row.place = absl::StrCat(name, ":", line_number);
      if (!row.cells.empty()) rows.push_back(row);
    }
  }
  return rows;
}

uint32_t Gpus(const TableRow& row) {
  static const std::regex gpus(R"(([1-9][0-9]{0,6}) (?:[A-Z][A-Z0-9]+ )?GPUs)");
  std::smatch match;
  if (!std::regex_search(row.title, match, gpus)) return 0;
  return static_cast<uint32_t>(std::stoul(match[1]));
}

void SetParallelism(const TableRow& row, v1::Parallelism& parallelism) {
  parallelism.set_tensor(row.Number("TP", 1));
  parallelism.set_pipeline(row.Number("PP", 1));
  parallelism.set_context(row.Number("CP", 1));
  parallelism.set_context_kind(v1::CONTEXT_KIND_ALL_GATHER);
  const uint64_t replica = RanksOf(parallelism);
  parallelism.set_data(
      row.Number("FSDP", static_cast<uint32_t>(Gpus(row) / replica)));
  parallelism.set_sequence_parallel(parallelism.tensor() > 1);
  const bool pipelined = parallelism.pipeline() > 1;
  // With a pipeline weights stay gathered between micro-batches.
  parallelism.set_sharding(pipelined ? v1::SHARDING_ZERO2 : v1::SHARDING_ZERO3);
  if (pipelined && row.Says("Interleaved")) parallelism.set_virtual_stages(2);
  parallelism.set_embedding_as_layer(pipelined);
  parallelism.set_head_as_layer(pipelined);
  parallelism.mutable_overlap()->set_tensor(row.Says("AsyncTP"));
}

void SetTraining(const TableRow& row, v1::Job& job) {
  const v1::Parallelism& parallelism = job.parallelism();
  const uint32_t local = row.Number("Local batch size", 1);
  v1::Training& training = *job.mutable_training();
  uint32_t sequence = kSequence;
  if (!absl::SimpleAtoi(row.Cell("Sequence Length"), &sequence)) {
    sequence = kSequence;
  }
  training.set_sequence(sequence);
  training.set_global_batch(local * parallelism.data());
  training.set_micro_batch(std::max(1U, local / parallelism.pipeline()));
  training.set_precision(row.Says("Float8") ? v1::PRECISION_FP8
                                            : v1::PRECISION_BF16);
  training.set_framework(v1::FRAMEWORK_TORCHTITAN);
  training.set_compiled(row.Says("torch.compile"));
  training.set_recompute(v1::RECOMPUTE_FULL);
  if (row.Says("Selective activation checkpointing")) {
    training.set_recompute_layers(job.model().layers() / 2);
  }
}

// What the row lacks; empty where nothing is.
std::string Problem(const TableRow& row, double tokens) {
  if (Gpus(row) == 0) return "title: lacks a number of GPUs";
  if (!(tokens > 0)) {
    return absl::StrCat("TPS/GPU: is \"", row.Cell("TPS/GPU"),
                        "\"; must be a number above 0");
  }
  return "";
}

// Requires: the row has no problem.
Measured Read(const TableRow& row, const v1::Model& model, double tokens) {
  Measured measured;
  measured.place = row.place;
  measured.family = absl::StrCat(row.Number("Llama 3.1", 0), "B");
  measured.name =
      absl::StrCat(measured.family, " on ", Gpus(row), ": ", row.cells[0]);
  const std::string sequence = row.Cell("Sequence Length");
  if (!sequence.empty()) absl::StrAppend(&measured.name, " s", sequence);
  v1::Job& job = *measured.question.mutable_job();
  *job.mutable_model() = model;
  SetParallelism(row, *job.mutable_parallelism());
  SetTraining(row, job);
  *measured.question.mutable_cluster() = ClusterOf(
      AcceleratorLike("h100-96gb").value_or("h100-80gb-sxm"), Gpus(row), 8);
  measured.value = double{1} * job.training().global_batch() *
                   job.training().sequence() / (tokens * Gpus(row));
  return measured;
}

void AddRow(const TableRow& row, Source& source, base::Violations& unreadable) {
  const auto model = Llama3Model(absl::StrCat(row.Number("Llama 3.1", 0), "b"));
  if (!model) {
    unreadable.Add(row.place + ": title",
                   "must name Llama 3.1 8B, 70B or 405B");
    return;
  }
  double tokens = 0;
  if (!absl::SimpleAtod(row.Cell("TPS/GPU"), &tokens)) tokens = 0;
  if (const std::string problem = Problem(row, tokens); !problem.empty()) {
    unreadable.Add(row.place, problem);
    return;
  }
  source.rows.push_back(Read(row, *model, tokens));
}

}  // namespace

void ReadTorchtitan(const DataFolder& folder, Measurements& found) {
  Source source = {.name = "torchtitan"};
  source.assumptions =
      "sequence 8192 where none is named; as many micro-batches as stages, two "
      "chunks where interleaved; selective checkpointing computes half of each "
      "layer again, taken as half of the layers; H100 of 96 GB at 500 W";
  bool any = false;
  for (const std::string& path : folder.List(kFolder)) {
    if (!absl::EndsWith(path, ".md")) continue;
    const auto text = ReadSetFile(folder, path, found);
    if (!text) continue;
    any = true;
    for (const TableRow& row : FindRows(folder.NameOf(path), *text)) {
      AddRow(row, source, found.unreadable);
    }
  }
  if (any) {
    found.sources.push_back(std::move(source));
  } else {
    found.missing.emplace_back(kFolder);
  }
}

}  // namespace prism::validate
