#include "client/prismctl/explain_trace.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/query/step_time_message.h"
#include "core/stats/sample_quantiles.h"
#include "core/step/step_time.h"

namespace prism::prismctl {
namespace {

namespace v1 = prism::v1;

constexpr size_t kMostWorkers = 16;

double Variance(const std::vector<double>& values) {
  const double deviation = stats::SampleMoments(values).standard_deviation;
  return deviation * deviation;
}

double Quantile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  return stats::SortedQuantile(values, p);
}

step::StepTime TimeOf(const std::vector<double>& seconds) {
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const auto moments = stats::SampleMoments(seconds);
  step::StepTime time;
  time.mean_seconds = moments.mean;
  time.standard_deviation_seconds = moments.standard_deviation;
  for (size_t q = 0; q < step::kQuantileLevels.size(); ++q) {
    time.quantile_seconds[q] =
        stats::SortedQuantile(sorted, step::kQuantileLevels[q]);
  }
  return time;
}

// Standard error of `number(as_is, without)` by leaving out one step after the
// other (the jackknife, B. Efron and R. Tibshirani, "An Introduction to the
// Bootstrap", 1993).
template <typename Number>
double ErrorOf(const std::vector<double>& as_is,
               const std::vector<double>& without, const Number& number) {
  const size_t n = as_is.size();
  if (n < 3) return 0;
  std::vector<double> values;
  for (size_t left_out = 0; left_out < n; ++left_out) {
    std::vector<double> a = as_is, b = without;
    a.erase(a.begin() + static_cast<std::ptrdiff_t>(left_out));
    b.erase(b.begin() + static_cast<std::ptrdiff_t>(left_out));
    values.push_back(number(a, b));
  }
  const double deviation = stats::SampleMoments(values).standard_deviation;
  const auto count = static_cast<double>(n);
  return deviation * (count - 1) / std::sqrt(count);
}

double ShareOfVariance(const std::vector<double>& as_is,
                       const std::vector<double>& without) {
  const double all = Variance(as_is);
  return all > 0 ? 1 - Variance(without) / all : 0;
}

// Half the distance that chance moves a quantile by, of the differences of the
// steps: what a few steps tell of it.
double QuantileErrorOf(const std::vector<double>& as_is,
                       const std::vector<double>& without, double p) {
  std::vector<double> differences;
  for (size_t i = 0; i < as_is.size(); ++i) {
    differences.push_back(without[i] - as_is[i]);
  }
  std::sort(differences.begin(), differences.end());
  return stats::SortedQuantileError(differences, p);
}

void SetCause(const trace::Account& account, const std::vector<double>& as_is,
              v1::Cause& cause) {
  const std::vector<double>& without = account.without;
  cause.set_share_of_variance(ShareOfVariance(as_is, without));
  cause.set_share_of_variance_error(ErrorOf(as_is, without, ShareOfVariance));
  v1::StepWithout& step = *cause.mutable_without();
  step.set_mean_seconds(stats::SampleMoments(without).mean);
  step.set_p50_seconds(Quantile(without, 0.5));
  step.set_p95_seconds(Quantile(without, 0.95));
  step.set_mean_error_seconds(ErrorOf(
      as_is, without,
      [](const std::vector<double>& a, const std::vector<double>& b) {
        return stats::SampleMoments(b).mean - stats::SampleMoments(a).mean;
      }));
  step.set_p50_error_seconds(QuantileErrorOf(as_is, without, 0.5));
  step.set_p95_error_seconds(QuantileErrorOf(as_is, without, 0.95));
  cause.set_excess(account.slowdown);
}

bool IsCommunication(const std::string& name) {
  return absl::StrContains(name, "comm") || absl::StrContains(name, "send") ||
         absl::StrContains(name, "recv") || absl::StrContains(name, "gather") ||
         absl::StrContains(name, "reduce");
}

void AddCauses(const std::vector<trace::Account>& accounts, v1::CauseBy by,
               const std::string& word, const std::vector<double>& as_is,
               v1::Explanation& explanation) {
  for (const trace::Account& account : accounts) {
    v1::Cause& cause = *explanation.add_causes();
    cause.set_by(by == v1::CAUSE_BY_KIND && IsCommunication(account.name)
                     ? v1::CAUSE_BY_COLLECTIVE
                     : by);
    cause.set_name(absl::StrCat(word, account.name));
    SetCause(account, as_is, cause);
  }
}

// Those that cost most, in their order.
std::vector<trace::Account> MostOf(std::vector<trace::Account> accounts,
                                   size_t most) {
  if (accounts.size() <= most) return accounts;
  std::vector<double> removed;
  for (const auto& account : accounts) removed.push_back(account.removed);
  std::nth_element(removed.begin(), removed.begin() + (most - 1), removed.end(),
                   std::greater<>());
  const double least = removed[most - 1];
  std::erase_if(accounts, [least](const trace::Account& account) {
    return account.removed < least;
  });
  accounts.resize(std::min(accounts.size(), most));
  return accounts;
}

}  // namespace

v1::Explanation ExplanationOf(const trace::ReplayReport& report) {
  v1::Explanation explanation;
  std::vector<double> as_is;
  for (const size_t i : report.accounted) {
    as_is.push_back(report.steps[i].simulated);
  }
  if (as_is.empty()) return explanation;
  query::SetStepTime(TimeOf(as_is), *explanation.mutable_step_time());
  explanation.set_samples(as_is.size());
  AddCauses(report.by_operation, v1::CAUSE_BY_KIND, "", as_is, explanation);
  AddCauses(report.by_stage, v1::CAUSE_BY_STAGE, "stage ", as_is, explanation);
  AddCauses(report.by_rank, v1::CAUSE_BY_RANK, "data rank ", as_is,
            explanation);
  const auto workers = MostOf(report.by_worker, kMostWorkers);
  AddCauses(workers, v1::CAUSE_BY_WORKER, "worker ", as_is, explanation);
  explanation.set_causes_left_out(
      static_cast<uint32_t>(report.by_worker.size() - workers.size()));
  std::stable_sort(explanation.mutable_causes()->begin(),
                   explanation.mutable_causes()->end(),
                   [](const v1::Cause& a, const v1::Cause& b) {
                     if (a.by() != b.by()) return a.by() < b.by();
                     return a.without().mean_seconds() <
                            b.without().mean_seconds();
                   });
  for (const std::string& culprit : report.culprits) {
    explanation.add_sentences(culprit);
  }
  return explanation;
}

}  // namespace prism::prismctl
