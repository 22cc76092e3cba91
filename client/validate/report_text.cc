#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <map>
#include <utility>

#include "client/render/table.h"
#include "client/render/units.h"
#include "client/render/wrap.h"
#include "client/validate/report.h"

namespace prism::validate {
namespace {

constexpr int kMostNamed = 20;

std::string Share(double share) {
  return absl::StrFormat("%.1f%%", 100 * share);
}
std::string Signed(double share) {
  return absl::StrFormat("%+.1f%%", 100 * share);
}

std::string Amount(double value, const std::string& unit) {
  if (unit == "seconds") return render::Duration(value);
  if (unit == "bytes") return render::Bytes(value);
  return value < 1e9 ? absl::StrFormat("%.4g M", value / 1e6)
                     : absl::StrFormat("%.1f B", value / 1e9);
}

std::string Fitted(const SourceReport& source) {
  const int64_t fitted = source.FittedRows();
  if (fitted == 0) return "no";
  const auto all = static_cast<int64_t>(source.rows.size());
  return fitted == all ? "yes" : absl::StrCat(fitted, " of ", all);
}

render::Row RowCells(const std::string& name, const ReportRow& row,
                     const std::string& unit) {
  return {name, Amount(row.predicted, unit), Amount(row.measured, unit),
          Signed(row.error())};
}

render::Row SummaryCells(const std::string& name, const SourceReport& source) {
  if (source.rows.empty()) return {name, "0", "-", "-", "-"};
  return {name, absl::StrCat(source.rows.size()),
          Share(source.MeanAbsoluteError()), Signed(source.Bias()),
          Fitted(source)};
}

std::string Summary(const Report& report) {
  std::vector<render::Row> rows = {
      {"source", "rows", "mean error", "bias", "fitted"}};
  for (const SourceReport& source : report.sources) {
    rows.push_back(SummaryCells(source.name, source));
  }
  return absl::StrCat("Predicted against measured\n", render::Table(rows));
}

std::string Worst(const Report& report) {
  std::vector<render::Row> rows = {{"row", "predicted", "measured", "error"}};
  for (const SourceReport& source : report.sources) {
    if (source.rows.empty()) continue;
    rows.push_back(RowCells(source.Worst().name, source.Worst(), source.unit));
  }
  return rows.size() == 1
             ? ""
             : absl::StrCat("\nWorst of each\n", render::Table(rows));
}

// Families of rows, where there are several.
std::string Families(const SourceReport& source) {
  std::map<std::string, SourceReport> families;
  for (const ReportRow& row : source.rows) {
    families[row.family].rows.push_back(row);
  }
  if (families.size() < 2) return "";
  std::vector<render::Row> rows = {
      {"family", "rows", "mean error", "bias", "fitted"}};
  for (const auto& [name, family] : families) {
    rows.push_back(SummaryCells(name, family));
  }
  return absl::StrCat("\n", source.name, ", by family\n", render::Table(rows));
}

std::string AllRows(const SourceReport& source) {
  std::vector<render::Row> rows = {{"row", "predicted", "measured", "error"}};
  for (const ReportRow& row : source.rows) {
    rows.push_back(RowCells(row.name, row, source.unit));
  }
  return absl::StrCat("\n", source.name, "\n", render::Table(rows),
                      Families(source));
}

std::string Assumptions(const Report& report, int columns) {
  std::string text = "\nTaken as\n";
  for (const SourceReport& source : report.sources) {
    text +=
        render::Wrap("  - ", source.name + ": " + source.assumptions, columns);
  }
  return text;
}

// Rows left out for the same reason are counted together.
std::string LeftOutRows(const Report& report, int columns) {
  std::string text;
  for (const SourceReport& source : report.sources) {
    std::map<std::string, std::vector<std::string>> names;
    for (const LeftOut& row : source.left_out) {
      names[row.reason].push_back(row.name);
    }
    for (const auto& [reason, rows] : names) {
      const std::string which =
          rows.size() == 1
              ? rows.front()
              : absl::StrCat(rows.size(), " rows, the first ", rows.front());
      text += render::Wrap("  - ",
                           absl::StrCat(source.name, ": ", which, ": ", reason),
                           columns);
    }
  }
  return text.empty() ? "" : "\nLeft out, without an answer\n" + text;
}

std::string Unreadable(const Report& report, int columns) {
  const auto& list = report.unreadable.list();
  if (list.empty()) return "";
  std::string text = "\nUnreadable\n";
  int named = 0;
  for (const base::Violation& violation : list) {
    if (named == kMostNamed) break;
    ++named;
    text += render::Wrap(
        "  - ", absl::StrCat(violation.field, ": ", violation.description),
        columns);
  }
  const int more =
      static_cast<int>(list.size()) - named + report.unreadable.dropped();
  if (more > 0) absl::StrAppend(&text, "  and ", more, " more\n");
  return text;
}

std::string Missing(const Report& report, int columns) {
  std::string text;
  for (const std::string& path : report.missing) {
    text += render::Wrap("  - ", path, columns);
  }
  return text.empty() ? "" : "\nSkipped, not in the folder\n" + text;
}

}  // namespace

std::string ReportText(const Report& report, bool rows, int columns) {
  std::string text = Summary(report);
  if (rows) {
    for (const SourceReport& source : report.sources) text += AllRows(source);
  } else {
    text += Worst(report);
  }
  return absl::StrCat(text, Assumptions(report, columns),
                      LeftOutRows(report, columns), Unreadable(report, columns),
                      Missing(report, columns));
}

}  // namespace prism::validate
