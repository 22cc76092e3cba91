#include "client/render/prediction_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "client/render/bars.h"
#include "client/render/paint.h"
#include "client/render/provenance_text.h"
#include "client/render/step_time_text.h"
#include "client/render/table.h"
#include "client/render/units.h"
#include "client/render/wrap.h"

namespace prism::render {
namespace {

using prism::v1::BreakdownEntry;
using prism::v1::Memory;
using prism::v1::MemoryPart;
using prism::v1::Prediction;
using prism::v1::StageMemory;

constexpr int kIndent = 2;

std::string Indented(std::string_view text) {
  return std::string(kIndent, ' ') + std::string(text) + "\n";
}

// "data_communication" -> "data communication"
std::string Words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string ThroughputText(const Prediction& prediction, const Paint& paint) {
  if (prediction.tokens_per_second() == 0) return "";
  return absl::StrCat(
      "\n", paint.Heading("Throughput"), "\n",
      Indented(
          absl::StrCat(Rate(prediction.tokens_per_second()), " tokens/s, MFU ",
                       Percent(prediction.model_flops_utilization()), ", ",
                       Rate(prediction.tflops_per_gpu()), " TFLOP/s per GPU")));
}

int WidestName(const Memory& memory) {
  int widest = 0;
  for (const MemoryPart& part : memory.parts()) {
    widest = std::max(widest, DisplayWidth(part.name()));
  }
  return widest;
}

// What takes time, the longest first.
std::vector<BreakdownEntry> LongestFirst(const Prediction& prediction) {
  std::vector<BreakdownEntry> entries;
  for (const BreakdownEntry& entry : prediction.breakdown()) {
    if (entry.seconds() > 0) entries.push_back(entry);
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const BreakdownEntry& a, const BreakdownEntry& b) {
                     return a.seconds() > b.seconds();
                   });
  return entries;
}

int WidestKind(const Prediction& prediction) {
  int widest = 0;
  for (const BreakdownEntry& entry : prediction.breakdown()) {
    widest = std::max(widest, DisplayWidth(entry.kind()));
  }
  return widest;
}

std::vector<double> MemoryShares(const Memory& memory) {
  const double whole =
      std::max(memory.capacity_bytes_per_gpu(), memory.peak_bytes_per_gpu());
  std::vector<double> shares;
  for (const MemoryPart& part : memory.parts()) {
    shares.push_back(part.bytes() / whole);
  }
  return shares;
}

std::string MemoryLegend(const Memory& memory, const Terminal& terminal,
                         const Paint& paint) {
  const int width = WidestName(memory);
  std::string legend;
  for (int i = 0; i < memory.parts_size(); ++i) {
    const MemoryPart& part = memory.parts(i);
    if (part.bytes() == 0) continue;
    legend += Indented(absl::StrCat(
        paint.Bar(PartMark(i, terminal.utf8)), " ",
        PadRight(part.name(), width), "  ", PadLeft(Bytes(part.bytes()), 9),
        "  ",
        PadLeft(Percent(part.bytes() / memory.capacity_bytes_per_gpu()), 5)));
  }
  return legend;
}

std::string BreakdownLine(const BreakdownEntry& entry, const TimeUnit& unit,
                          double whole, int kind_width,
                          const Terminal& terminal, const Paint& paint) {
  const std::string label =
      absl::StrCat(PadRight(Words(entry.kind()), kind_width), "  ",
                   PadLeft(unit.WithName(entry.seconds()), 10), "  ",
                   PadLeft(Percent(entry.seconds() / whole), 5), "  ");
  const int room = terminal.columns - kIndent - DisplayWidth(label);
  const std::string bar =
      Bar(entry.seconds() / whole, std::max(room, 1), terminal.utf8);
  return Indented(bar.empty() ? label.substr(0, label.size() - 2)
                              : label + paint.Bar(bar));
}

std::string BreakdownText(const Prediction& prediction,
                          const Terminal& terminal, const Paint& paint) {
  const double whole = prediction.nominal_step_seconds();
  if (prediction.breakdown().empty() || !(whole > 0)) return "";
  const TimeUnit unit = UnitFor(whole);
  std::string text = absl::StrCat(
      "\n", paint.Heading("Where a step without variability spends its time"),
      "\n");
  for (const BreakdownEntry& entry : LongestFirst(prediction)) {
    text += BreakdownLine(entry, unit, whole, WidestKind(prediction), terminal,
                          paint);
  }
  return text;
}

// What runs beside computation: how long, and how much of it is exposed, in a
// step without variability and on average.
std::string ExposedText(const Prediction& prediction, const Paint& paint) {
  const TimeUnit unit = UnitFor(prediction.nominal_step_seconds());
  std::vector<Row> rows = {{"", "runs", "mean", "exposed", "mean"}};
  for (const BreakdownEntry& entry : prediction.breakdown()) {
    if (!entry.has_mean_seconds() ||
        entry.mean_seconds() >= entry.mean_busy_seconds()) {
      continue;
    }
    rows.push_back({Words(entry.kind()), unit.WithName(entry.busy_seconds()),
                    unit.WithName(entry.mean_busy_seconds()),
                    unit.WithName(entry.seconds()),
                    unit.WithName(entry.mean_seconds())});
  }
  if (rows.size() == 1) return "";
  return absl::StrCat(
      "\n", paint.Heading("Communication that runs beside computation"), "\n",
      Table(rows));
}

std::string MethodText(const Prediction& prediction, const Terminal& terminal) {
  const auto samples = prediction.sampling().samples();
  const std::vector<std::string> parts = {
      DocumentName(prediction.method()),
      absl::StrCat(Grouped(static_cast<int64_t>(samples)), " samples in ",
                   Duration(prediction.sampling().elapsed_seconds())),
      absl::StrCat("quality ", DocumentName(prediction.quality())),
      absl::StrCat("cache ", DocumentName(prediction.cache())),
      absl::StrCat("model ", prediction.model_version()),
      absl::StrCat("signature ", prediction.signature().substr(0, 12))};
  return "\n" + Wrap("", absl::StrJoin(parts, ", "), terminal.columns);
}

// The verdict in words: how much is left, and what to change.
std::string VerdictText(const Memory& memory) {
  const std::string margin = Bytes(std::abs(memory.margin_bytes_per_gpu()));
  switch (memory.fit()) {
    case prism::v1::MEMORY_FIT_FITS:
      return absl::StrCat("fits, ", margin, " to spare");
    case prism::v1::MEMORY_FIT_TIGHT:
      return absl::StrCat("tight, only ", margin,
                          " to spare: ", memory.advice());
    case prism::v1::MEMORY_FIT_DOES_NOT_FIT:
      return absl::StrCat("does not fit, ", margin,
                          " short: ", memory.advice());
    default:
      return "";
  }
}

// From the emptiest stage to the fullest, where there are several.
std::string StagesText(const Memory& memory) {
  if (memory.stages_size() < 2) return "";
  const auto by_peak = [](const StageMemory& a, const StageMemory& b) {
    return a.peak_bytes_per_gpu() < b.peak_bytes_per_gpu();
  };
  const StageMemory& least = *std::min_element(memory.stages().begin(),
                                               memory.stages().end(), by_peak);
  return Indented(absl::StrCat(
      "stages from ", Bytes(least.peak_bytes_per_gpu()), ", stage ",
      least.stage(), ", to ", Bytes(memory.peak_bytes_per_gpu())));
}

}  // namespace

std::string MemoryText(const Memory& memory, const Terminal& terminal) {
  if (!(memory.capacity_bytes_per_gpu() > 0)) return "";
  const Paint paint(terminal.colour);
  const double share =
      memory.peak_bytes_per_gpu() / memory.capacity_bytes_per_gpu();
  const std::string title =
      absl::StrCat(Bytes(memory.peak_bytes_per_gpu()), " of ",
                   Bytes(memory.capacity_bytes_per_gpu()), " (", Percent(share),
                   ") on the fullest GPU, stage ", memory.stage());
  const std::string verdict = VerdictText(memory);
  return absl::StrCat(
      "\n", paint.Heading("Memory"), "\n",
      Indented(share > 1 ? paint.Alarm(title) : title),
      verdict.empty()
          ? ""
          : Wrap(std::string(kIndent, ' '), verdict, terminal.columns),
      Indented(
          paint.Bar(StackedBar(MemoryShares(memory),
                               terminal.columns - 2 * kIndent, terminal.utf8))),
      MemoryLegend(memory, terminal, paint), StagesText(memory));
}

std::string PredictionText(const Prediction& prediction,
                           const Terminal& terminal) {
  const Paint paint(terminal.colour);
  return absl::StrCat(
      StepTimeText(prediction, terminal), ThroughputText(prediction, paint),
      MemoryText(prediction.memory(), terminal),
      BreakdownText(prediction, terminal, paint),
      ExposedText(prediction, paint), NotesText(prediction.notes(), terminal),
      paint.Quiet(MethodText(prediction, terminal)));
}

}  // namespace prism::render
