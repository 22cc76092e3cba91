#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <utility>

#include "client/prismctl/replay_answer.h"
#include "client/render/paint.h"
#include "client/render/table.h"
#include "client/render/units.h"
#include "client/render/wrap.h"

namespace prism::prismctl {
namespace {

using trace::Account;

constexpr size_t kMostRows = 8;  // of a table of accounts

std::string Factor(double value) { return absl::StrFormat("%.3f", value); }

std::string Share(double value) {
  return absl::StrFormat("%.1f%%", value * 100);
}

std::string Subject(const ReplayAnswer& answer) {
  const trace::ReplayReport& report = answer.report;
  std::string text = absl::StrCat(
      answer.path, ": ", report.steps.size(), " steps of ", report.sizes.data,
      " replicas x ", report.sizes.pipeline, " stages, ",
      render::Grouped(report.operations), " operations");
  if (report.accounted.size() < report.steps.size()) {
    absl::StrAppend(&text, "; accounts are of ", report.accounted.size(),
                    " of the steps");
  }
  return text;
}

std::vector<double> Seconds(const trace::ReplayReport& report,
                            double trace::StepSeconds::*value) {
  std::vector<double> seconds;
  for (const trace::StepSeconds& step : report.steps) {
    seconds.push_back(step.*value);
  }
  return seconds;
}

render::Row TimeRow(const std::string& name, const prism::v1::StepTime& time) {
  return {name, render::Duration(time.mean_seconds()),
          render::Duration(time.quantiles().p50()),
          render::Duration(time.quantiles().p95())};
}

std::string Times(const ReplayAnswer& answer) {
  const trace::ReplayReport& report = answer.report;
  const auto row = [&](const char* name, double trace::StepSeconds::*value) {
    return TimeRow(name, StepTimeOf(Seconds(report, value)));
  };
  std::vector<render::Row> rows = {
      {"step", "mean", "p50", "p95"},
      row("measured", &trace::StepSeconds::measured),
      row("simulated", &trace::StepSeconds::simulated),
      row("ideal", &trace::StepSeconds::ideal)};
  if (answer.predicted) {
    rows.push_back(TimeRow("predicted", *answer.predicted));
  }
  if (!answer.changes.empty()) {
    rows.push_back(row("what if", &trace::StepSeconds::changed));
  }
  return render::Table(rows);
}

// The worst of `accounts`.
std::string Accounts(const char* title, std::vector<Account> accounts) {
  std::stable_sort(accounts.begin(), accounts.end(),
                   [](const Account& a, const Account& b) {
                     return a.slowdown > b.slowdown;
                   });
  std::vector<render::Row> rows = {{title, "slowdown", "removed"}};
  for (const Account& account : accounts) {
    if (rows.size() > kMostRows) break;
    rows.push_back(
        {account.name, Factor(account.slowdown), Share(account.removed)});
  }
  std::string text = render::Table(rows);
  if (accounts.size() > kMostRows) {
    absl::StrAppend(&text, "  and ", accounts.size() - kMostRows,
                    " more, in the JSON\n");
  }
  return text;
}

std::string Sentences(const std::vector<std::string>& sentences, int columns) {
  std::string text;
  for (const std::string& sentence : sentences) {
    text += render::Wrap("  - ", sentence, columns);
  }
  return text;
}

}  // namespace

std::string ReplayText(const ReplayAnswer& answer,
                       const render::Terminal& terminal) {
  const trace::ReplayReport& report = answer.report;
  const render::Paint paint(terminal.colour);
  const int columns = terminal.columns;
  std::string text = render::Wrap("", Subject(answer), columns);
  absl::StrAppend(&text, "\n", Times(answer), "\n");
  text += paint.Heading(
      absl::StrCat("Slowdown ", Factor(report.excess.slowdown()), "\n"));
  text += Sentences(report.culprits, columns);
  if (!report.suggestions.empty()) {
    absl::StrAppend(&text, "\n", paint.Heading("What if\n"),
                    Sentences(report.suggestions, columns));
  }
  text += "\n";
  text += render::Wrap(
      "",
      "Each part alone: the slowdown with only it as recorded and all else "
      "typical, and the share of the excess that goes when only it is typical.",
      columns);
  for (const auto& [title, accounts] :
       {std::pair{"operation", &report.by_operation},
        {"stage", &report.by_stage},
        {"data rank", &report.by_rank},
        {"worker", &report.by_worker}}) {
    absl::StrAppend(&text, "\n", Accounts(title, *accounts));
  }
  return text;
}

}  // namespace prism::prismctl
