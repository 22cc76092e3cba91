#include "client/import/trace_summary.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <vector>

#include "client/render/table.h"
#include "client/render/units.h"

namespace prism::import {
namespace {

using kineto::CollectiveUse;
using kineto::JoinedStep;
using kineto::JoinedTrace;
using kineto::KernelUse;
using kineto::PhaseTime;
using render::Row;

constexpr size_t kMostKernels = 20;
constexpr size_t kMostRanks = 8;
constexpr size_t kLeastNameColumns = 20;

std::string Time(double ns) { return render::Duration(ns / 1e9); }
std::string Time(int64_t ns) { return Time(static_cast<double>(ns)); }

// Names come from files: nothing in them may steer a terminal.
std::string Printable(std::string name) {
  for (char& c : name)
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  return name;
}

std::string Head(const JoinedTrace& joined, const kineto::ProfileCheck& check) {
  int64_t shortest = INT64_MAX, longest = 0;
  for (const JoinedStep& step : joined.steps) {
    shortest = std::min(shortest, step.duration_ns);
    longest = std::max(longest, step.duration_ns);
  }
  const size_t steps = joined.steps.size(), ranks = joined.traces.size();
  return absl::StrCat(
      steps, steps == 1 ? " step of " : " steps of ", ranks,
      ranks == 1 ? " rank" : " ranks", ": ",
      render::Duration(check.measured_mean_seconds), " on average, ",
      Time(shortest), " to ", Time(longest),
      "\nits profile: ", render::Duration(check.predicted_mean_seconds),
      " on average (", absl::StrFormat("%+.2f%%", 100 * check.relative_error()),
      "), p50 ", render::Duration(check.predicted_p50_seconds), ", p95 ",
      render::Duration(check.predicted_p95_seconds), "\n");
}

using Member = int64_t PhaseTime::*;

// Mean over the steps of what the device of `trace` did, in ns.
double MeanOf(const JoinedTrace& joined, size_t trace, Member member) {
  double sum = 0;
  for (const JoinedStep& step : joined.steps)
    sum += static_cast<double>(step.by_trace[trace].sum().*member);
  return sum / static_cast<double>(joined.steps.size());
}

std::string DeviceTable(const JoinedTrace& joined) {
  struct Line {
    const char* name;
    Member member;
  };
  static constexpr Line kLines[] = {
      {"computing", &PhaseTime::compute_ns},
      {"exposed communication", &PhaseTime::exposed_communication_ns},
      {"exposed copies", &PhaseTime::exposed_copy_ns},
      {"idle", &PhaseTime::idle_ns}};
  const size_t ranks = std::min(joined.traces.size(), kMostRanks);
  std::vector<Row> rows = {{"the device in a step"}};
  for (size_t t = 0; t < ranks; ++t)
    rows[0].push_back(absl::StrCat("rank ", *joined.traces[t].rank));
  for (const Line& line : kLines) {
    Row row = {line.name};
    for (size_t t = 0; t < ranks; ++t)
      row.push_back(Time(MeanOf(joined, t, line.member)));
    rows.push_back(row);
  }
  std::string text = absl::StrCat("\n", render::Table(rows));
  if (joined.traces.size() > ranks)
    absl::StrAppend(&text, "  and ", joined.traces.size() - ranks,
                    " more ranks\n");
  return text;
}

std::string StreamTable(const JoinedTrace& joined) {
  std::vector<Row> rows = {{"rank", "device", "stream", "activities", "busy"}};
  const size_t ranks = std::min(joined.traces.size(), kMostRanks);
  for (size_t t = 0; t < ranks; ++t) {
    for (const kineto::StreamUse& use : StreamUses(joined.traces[t])) {
      rows.push_back({absl::StrCat(*joined.traces[t].rank),
                      absl::StrCat(use.stream.device),
                      absl::StrCat(use.stream.number),
                      render::Grouped(use.activities), Time(use.busy_ns)});
    }
  }
  return absl::StrCat("\n", render::Table(rows));
}

Row CollectiveRow(const CollectiveUse& use) {
  const auto calls = static_cast<double>(std::max<int64_t>(1, use.calls));
  const auto matched = static_cast<double>(use.matched);
  const bool known = use.bytes >= 0 && use.calls > use.unknown_bytes;
  const auto with_bytes = static_cast<double>(use.calls - use.unknown_bytes);
  return {
      use.kind,
      use.group,
      use.group_size > 0 ? absl::StrCat(use.group_size) : "?",
      render::Grouped(use.calls),
      known ? render::Bytes(static_cast<double>(use.bytes) / with_bytes) : "?",
      Time(static_cast<double>(use.total_ns) / calls),
      use.matched > 0 ? Time(static_cast<double>(use.waiting_ns) / matched)
                      : "?",
      use.matched > 0 ? Time(static_cast<double>(use.transfer_ns) / matched)
                      : "?"};
}

std::string CollectiveTable(const JoinedTrace& joined) {
  if (joined.collectives.uses.empty()) return "\nno collectives\n";
  std::vector<Row> rows = {{"collective", "group", "ranks", "calls", "bytes",
                            "mean", "waiting", "transfer"}};
  for (const CollectiveUse& use : joined.collectives.uses)
    rows.push_back(CollectiveRow(use));
  return absl::StrCat("\n", render::Table(rows, {1}));
}

std::string KernelTable(const JoinedTrace& joined, int columns) {
  std::vector<Row> rows = {{"share", "count", "mean", "sd"}};
  const size_t count = std::min(joined.kernels.size(), kMostKernels);
  for (size_t i = 0; i < count; ++i) {
    const KernelUse& use = joined.kernels[i];
    rows.push_back({render::Percent(use.share), render::Grouped(use.count),
                    Time(use.mean_ns), Time(use.sd_ns)});
  }
  const std::string numbers = render::Table(rows);
  const size_t used = numbers.find('\n') + 2;
  const size_t width =
      std::max(kLeastNameColumns,
               static_cast<size_t>(columns) - std::min<size_t>(used, columns));
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string name = i == 0 ? "kernel" : joined.kernels[i - 1].name;
    rows[i].push_back(Printable(name).substr(0, width));
  }
  std::string text = absl::StrCat("\n", render::Table(rows, {4}));
  if (joined.kernels.size() > count)
    absl::StrAppend(&text, "  and ", joined.kernels.size() - count,
                    " more, which --format json lists\n");
  return text;
}

}  // namespace

std::string TraceSummaryText(const JoinedTrace& joined,
                             const kineto::ProfileCheck& check, int columns) {
  return absl::StrCat(Head(joined, check), DeviceTable(joined),
                      StreamTable(joined), CollectiveTable(joined),
                      KernelTable(joined, columns));
}

}  // namespace prism::import
