#include <nlohmann/json.hpp>

#include "client/validate/report.h"

namespace prism::validate {
namespace {

using Json = nlohmann::ordered_json;

Json RowJson(const ReportRow& row) {
  return {{"name", row.name},         {"family", row.family},
          {"gpus", row.gpus},         {"predicted", row.predicted},
          {"measured", row.measured}, {"error", row.error()},
          {"fitted", row.fitted},     {"place", row.place}};
}

Json SourceJson(const SourceReport& source) {
  const bool any = !source.rows.empty();
  Json rows = Json::array();
  for (const ReportRow& row : source.rows) rows.push_back(RowJson(row));
  Json left_out = Json::array();
  for (const LeftOut& row : source.left_out) {
    left_out.push_back(
        {{"name", row.name}, {"place", row.place}, {"reason", row.reason}});
  }
  return {
      {"source", source.name},
      {"unit", source.unit},
      {"count", source.rows.size()},
      {"mean_absolute_error", any ? Json(source.MeanAbsoluteError()) : Json()},
      {"bias", any ? Json(source.Bias()) : Json()},
      {"worst", any ? RowJson(source.Worst()) : Json()},
      {"fitted", source.FittedRows() > 0},
      {"fitted_rows", source.FittedRows()},
      {"assumptions", source.assumptions},
      {"rows", std::move(rows)},
      {"left_out", std::move(left_out)}};
}

}  // namespace

std::string ReportJson(const Report& report) {
  Json sources = Json::array();
  for (const SourceReport& source : report.sources) {
    sources.push_back(SourceJson(source));
  }
  Json unreadable = Json::array();
  for (const base::Violation& violation : report.unreadable.list()) {
    unreadable.push_back(
        {{"place", violation.field}, {"description", violation.description}});
  }
  const size_t unreadable_count =
      report.unreadable.list().size() +
      static_cast<size_t>(report.unreadable.dropped());
  const Json json = {{"sources", std::move(sources)},
                     {"missing", report.missing},
                     {"unreadable_count", unreadable_count},
                     {"unreadable", std::move(unreadable)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace prism::validate
