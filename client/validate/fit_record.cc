#include "client/validate/fit_record.h"

#include "client/validate/csv.h"
#include "client/validate/readers.h"

namespace prism::validate {

FitRecord::FitRecord(const std::string& record,
                     const Measurements& repository) {
  base::Violations damaged;
  ForEachRow(
      "fitted.csv", record, {"source", "family"},
      [&](CsvRow& row) {
        families_.emplace(row.Text("source"), row.TextOr("family", ""));
      },
      damaged);
  for (const Source& source : repository.sources) {
    for (const Measured& row : source.rows) {
      if (!Names(source.name, row.family)) continue;
      rows_.emplace(source.name, row.name, row.value);
    }
  }
}

FitRecord FitRecord::OfRepository() {
  const auto folder = RepositoryFolder();
  return FitRecord(folder->Read("fitted.csv").value_or(""),
                   ReadFolder(*folder));
}

bool FitRecord::Names(const std::string& source,
                      const std::string& family) const {
  return families_.contains({source, ""}) ||
         families_.contains({source, family});
}

bool FitRecord::Used(const std::string& source, const Measured& row) const {
  return rows_.contains({source, row.name, row.value});
}

}  // namespace prism::validate
