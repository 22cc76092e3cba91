#include "client/validate/report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "client/validate/evaluate.h"

namespace prism::validate {
namespace {

// A row of the measurements and the model's answer to it.
struct Answer {
  const Source* source;
  const Measured* row;
  absl::StatusOr<Outcome> outcome = absl::UnknownError("");
};

int64_t Gpus(const Measured& row) {
  const auto& split = row.question.job().parallelism();
  const auto size = [](uint32_t ranks) {
    return std::max(int64_t{1}, int64_t{ranks});
  };
  return size(split.tensor()) * size(split.context()) * size(split.pipeline()) *
         size(split.data());
}

void Add(const Answer& answer, const FitRecord& fit, SourceReport& report) {
  const Measured& row = *answer.row;
  if (!answer.outcome.ok()) {
    report.left_out.push_back(
        {row.name, row.place, std::string(answer.outcome.status().message())});
    return;
  }
  report.rows.push_back({.name = row.name,
                         .family = row.family,
                         .place = row.place,
                         .gpus = Gpus(row),
                         .predicted = answer.outcome->predicted,
                         .measured = answer.outcome->measured,
                         .fitted = fit.Used(report.name, row)});
}

}  // namespace

double SourceReport::MeanAbsoluteError() const {
  double sum = 0;
  for (const ReportRow& row : rows) sum += std::abs(row.error());
  return sum / static_cast<double>(rows.size());
}

double SourceReport::Bias() const {
  double sum = 0;
  for (const ReportRow& row : rows) sum += row.error();
  return sum / static_cast<double>(rows.size());
}

const ReportRow& SourceReport::Worst() const {
  return *std::max_element(rows.begin(), rows.end(),
                           [](const ReportRow& a, const ReportRow& b) {
                             return std::abs(a.error()) < std::abs(b.error());
                           });
}

int64_t SourceReport::FittedRows() const {
  return std::count_if(rows.begin(), rows.end(),
                       [](const ReportRow& row) { return row.fitted; });
}

Report Validate(const Measurements& measurements, const FitRecord& fit,
                const calibration::Constants& constants,
                base::Executor& executor) {
  std::vector<Answer> answers;
  for (const Source& source : measurements.sources) {
    for (const Measured& row : source.rows) {
      answers.push_back({.source = &source, .row = &row});
    }
  }
  executor.ParallelFor(static_cast<int>(answers.size()), [&](int i) {
    Answer& answer = answers[static_cast<size_t>(i)];
    answer.outcome = Evaluate(*answer.row, constants);
  });

  Report report;
  report.missing = measurements.missing;
  report.unreadable = measurements.unreadable;
  for (const Source& source : measurements.sources) {
    if (source.rows.empty()) continue;
    SourceReport& entry = report.sources.emplace_back();
    entry.name = source.name;
    entry.assumptions = source.assumptions;
    entry.unit = UnitOf(source.rows.front().quantity);
    for (const Answer& answer : answers) {
      if (answer.source == &source) Add(answer, fit, entry);
    }
  }
  return report;
}

}  // namespace prism::validate
