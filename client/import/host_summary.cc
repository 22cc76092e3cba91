#include "client/import/host_summary.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "client/render/table.h"
#include "client/render/units.h"

namespace prism::import {
namespace {

using Json = nlohmann::ordered_json;
using render::Row;

constexpr size_t kMostOperators = 20;
constexpr size_t kLeastNameColumns = 20;

// Names come from files: nothing in them may steer a terminal.
std::string Printable(std::string name) {
  for (char& c : name)
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  return name;
}

std::string CollectiveTable(const chakra::HostTrace& trace) {
  if (trace.collectives.empty()) return "\nno collectives\n";
  std::vector<Row> rows = {{"collective", "calls", "bytes of all"}};
  for (const auto& [kind, use] : trace.collectives) {
    const bool known = use.unknown_bytes < use.calls;
    rows.push_back(
        {kind, render::Grouped(use.calls),
         known ? render::Bytes(static_cast<double>(use.bytes)) : "?"});
  }
  return absl::StrCat("\n", render::Table(rows));
}

std::string OperatorTable(const chakra::HostTrace& trace, size_t columns) {
  std::vector<std::pair<int64_t, std::string>> most;
  for (const auto& [name, calls] : trace.operators)
    most.emplace_back(calls, name);
  std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) {
    return a.first > b.first;
  });
  const size_t count = std::min(most.size(), kMostOperators);
  const size_t width =
      std::max(kLeastNameColumns, columns - std::min<size_t>(columns, 16));
  std::vector<Row> rows = {{"calls", "operator"}};
  for (size_t i = 0; i < count; ++i)
    rows.push_back({render::Grouped(most[i].first),
                    Printable(most[i].second).substr(0, width)});
  std::string text = absl::StrCat("\n", render::Table(rows, {1}));
  if (most.size() > count)
    absl::StrAppend(&text, "  and ", most.size() - count, " more\n");
  return text;
}

}  // namespace

std::string HostSummaryText(const chakra::HostTrace& trace, int columns) {
  return absl::StrCat(render::Grouped(trace.nodes),
                      " operators of the host in ", trace.steps.size(),
                      " marked steps, without times\n", CollectiveTable(trace),
                      OperatorTable(trace, static_cast<size_t>(columns)));
}

std::string HostSummaryJson(const chakra::HostTrace& trace) {
  Json collectives = Json::object();
  for (const auto& [kind, use] : trace.collectives) {
    collectives[kind] = {{"calls", use.calls},
                         {"bytes", use.bytes},
                         {"calls_of_unknown_bytes", use.unknown_bytes}};
  }
  const Json json = {{"schema", trace.schema},
                     {"nodes", trace.nodes},
                     {"steps", trace.steps},
                     {"collectives", std::move(collectives)},
                     {"operators", trace.operators}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace prism::import
