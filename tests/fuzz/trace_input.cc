#include "tests/fuzz/trace_input.h"

#include <cmath>
#include <optional>

#include "core/base/check.h"
#include "core/trace/csv/csv_trace.h"
#include "core/trace/csv/text_source.h"
#include "core/trace/replay/replay.h"

namespace prism::fuzz {
namespace {

// A job of few workers: ranks beyond it are damage, and take no memory.
constexpr trace::Sizes kSizes{.data = 2, .pipeline = 4};

std::optional<trace::ReplayReport> ReplayText(const std::string& text,
                                              int64_t most_held) {
  trace::TextSource source(text, 61);
  trace::DamageLog damage;
  auto opened = trace::CsvTrace::Open(source, kSizes, damage, most_held);
  if (!opened.ok()) return std::nullopt;
  trace::ReplayOptions options;
  for (const char* change : {"scale:compute=0.5", "sort-sequences"}) {
    options.changes.push_back(*trace::ParseChange(change));
  }
  auto report = trace::Replay(**opened, options, damage);
  if (!report.ok()) return std::nullopt;
  return *std::move(report);
}

}  // namespace

void CheckTrace(const std::string& text) {
  constexpr int64_t kAll = 1'000'000;
  const auto held = ReplayText(text, kAll);
  const auto streamed = ReplayText(text, 1);
  PRISM_CHECK(held.has_value() == streamed.has_value());
  if (!held) return;
  PRISM_CHECK(held->operations == streamed->operations);
  PRISM_CHECK(held->steps.size() == streamed->steps.size());
  for (size_t i = 0; i < held->steps.size(); ++i) {
    PRISM_CHECK(std::isfinite(held->steps[i].simulated));
    PRISM_CHECK(std::isfinite(held->steps[i].changed));
    PRISM_CHECK(held->steps[i].simulated == streamed->steps[i].simulated);
  }
}

}  // namespace prism::fuzz
