// Report: predictions beside measurements, by source.
#ifndef PRISM_CLIENT_VALIDATE_REPORT_H_
#define PRISM_CLIENT_VALIDATE_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/validate/fit_record.h"
#include "client/validate/measured.h"
#include "core/base/parallel.h"
#include "core/base/violations.h"
#include "core/calibration/constants.h"

namespace prism::validate {

struct ReportRow {
  std::string name;
  std::string family;
  std::string place;
  int64_t gpus = 1;
  double predicted = 0;
  double measured = 0;
  bool fitted = false;

  // Of the prediction, as a share of the measurement.
  double error() const { return predicted / measured - 1; }
};

struct LeftOut {
  std::string name;
  std::string place;
  std::string reason;
};

struct SourceReport {
  std::string name;
  std::string assumptions;
  std::string unit;  // "seconds"
  std::vector<ReportRow> rows;
  // Rows that the model has no answer to.
  std::vector<LeftOut> left_out;

  // Of all rows. Require: !rows.empty().
  double MeanAbsoluteError() const;
  double Bias() const;  // mean error
  const ReportRow& Worst() const;

  int64_t FittedRows() const;
};

struct Report {
  std::vector<SourceReport> sources;
  std::vector<std::string> missing;
  base::Violations unreadable;
};

// Does not depend on the executor's threads.
Report Validate(const Measurements& measurements, const FitRecord& fit,
                const calibration::Constants& constants,
                base::Executor& executor);

// What people read: sources, their worst rows, assumptions, what is left out.
// With `rows`, every row.
std::string ReportText(const Report& report, bool rows, int columns);

// {"sources": [{"source", "count", "mean_absolute_error", "bias", "worst",
// "fitted", "rows": [{"name", "predicted", "measured", "error", ..}], ..}], ..}
std::string ReportJson(const Report& report);

}  // namespace prism::validate

#endif  // PRISM_CLIENT_VALIDATE_REPORT_H_
