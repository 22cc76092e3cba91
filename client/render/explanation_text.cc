#include "client/render/explanation_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <cmath>
#include <map>
#include <vector>

#include "client/render/paint.h"
#include "client/render/provenance_text.h"
#include "client/render/table.h"
#include "client/render/tornado.h"
#include "client/render/units.h"
#include "client/render/wrap.h"

namespace prism::render {
namespace {

namespace v1 = prism::v1;

// Of each sort; all are in the JSON.
constexpr int kMostOfASort = 8;
constexpr double kNothing = 0.0005;

std::string Share(double share) {
  return absl::StrFormat("%.1f%%", 100 * share);
}

std::string StepText(const v1::Explanation& explanation) {
  const v1::StepTime& time = explanation.step_time();
  return Table(
      {{"p05", "p50", "p95", "mean", "deviation"},
       {Duration(time.quantiles().p05()), Duration(time.quantiles().p50()),
        Duration(time.quantiles().p95()), Duration(time.mean_seconds()),
        Duration(time.standard_deviation_seconds())}},
      {});
}

// Whether the step is what it is with or without it.
bool IsNothing(const v1::Cause& cause) {
  return std::abs(cause.share_of_variance()) < kNothing &&
         cause.share_of_mean() < kNothing;
}

std::string CausesText(const v1::Explanation& explanation) {
  const bool has_paths = explanation.paths() > 0;
  std::vector<Row> rows = {{"source", "by", "of mean", "of variance", "+-",
                            "on path", "p50 without", "p95 without"}};
  std::map<v1::CauseBy, int> shown;
  int hidden = 0;
  for (const v1::Cause& cause : explanation.causes()) {
    if (IsNothing(cause) || ++shown[cause.by()] > kMostOfASort) {
      ++hidden;
      continue;
    }
    rows.push_back({cause.name(), DocumentName(cause.by()),
                    has_paths ? Share(cause.share_of_mean()) : "-",
                    Share(cause.share_of_variance()),
                    Share(cause.share_of_variance_error()),
                    has_paths ? Share(cause.criticality()) : "-",
                    Duration(cause.without().p50_seconds()),
                    Duration(cause.without().p95_seconds())});
  }
  std::string text = Table(rows, {1});
  if (hidden > 0) {
    absl::StrAppend(&text, "  and ", hidden, " more, in the JSON\n");
  }
  return text;
}

}  // namespace

std::string ExplanationText(const v1::Explanation& explanation,
                            const Terminal& terminal) {
  const Paint paint(terminal.colour);
  std::string text = paint.Heading("Step") + "\n" + StepText(explanation) +
                     "\n" + paint.Heading("Why") + "\n";
  int number = 0;
  for (const std::string& sentence : explanation.sentences()) {
    absl::StrAppend(&text, Wrap(absl::StrFormat("  %d. ", ++number), sentence,
                                terminal.columns));
  }
  absl::StrAppend(&text, "\n", paint.Heading("Sources"), "\n",
                  CausesText(explanation));
  const std::string tornado = TornadoText(explanation, terminal);
  if (!tornado.empty()) {
    absl::StrAppend(&text, "\n", paint.Heading("The step without each"), "\n",
                    tornado);
  }
  if (explanation.what_ifs().empty()) return text;
  absl::StrAppend(&text, "\n", paint.Heading("What if"), "\n");
  for (const v1::ChangedStep& changed : explanation.what_ifs()) {
    absl::StrAppend(&text, Wrap("  ", changed.sentence(), terminal.columns));
  }
  return text;
}

}  // namespace prism::render
