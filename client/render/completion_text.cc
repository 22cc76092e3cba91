#include "client/render/completion_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <cmath>
#include <vector>

#include "client/render/paint.h"
#include "client/render/provenance_text.h"
#include "client/render/table.h"
#include "client/render/units.h"

namespace prism::render {
namespace {

namespace v1 = prism::v1;

std::string TimeText(double seconds) {
  return std::isfinite(seconds) ? Duration(seconds) : "never";
}

// Close to all is not all.
std::string Tenths(double share) {
  return absl::StrFormat("%.1f%%", 100 * share);
}

std::string DeadlineText(const v1::Completion& completion) {
  return completion.has_probability_by_deadline()
             ? Tenths(completion.probability_by_deadline())
             : "-";
}

Row RunRow(const std::string& name, const v1::Completion& completion) {
  const auto& q = completion.completion_time().quantiles();
  return {name,
          TimeText(q.p05()),
          TimeText(q.p50()),
          TimeText(q.p95()),
          DeadlineText(completion),
          absl::StrFormat("%.1f", completion.expected_failures()),
          Tenths(completion.effective_training_time_ratio())};
}

std::string PartsText(const v1::Completion& completion) {
  double whole = 0;
  for (const auto& part : completion.time_by_kind()) whole += part.seconds();
  std::vector<Row> rows;
  for (const auto& part : completion.time_by_kind()) {
    if (part.seconds() <= 0) continue;
    rows.push_back({part.kind(), TimeText(part.seconds()),
                    whole > 0 ? Percent(part.seconds() / whole) : "-"});
  }
  return rows.empty() ? "" : Table(rows);
}

std::string CheckpointText(const v1::Completion& completion) {
  if (completion.checkpoint_interval_seconds() == 0) {
    return "  no checkpoints\n";
  }
  std::string text = absl::StrCat(
      "  every ", Duration(completion.checkpoint_interval_seconds()),
      " of work");
  if (completion.best_checkpoint_interval_seconds() > 0) {
    absl::StrAppend(&text, "; best every ",
                    Duration(completion.best_checkpoint_interval_seconds()),
                    " (first order: ",
                    Duration(completion.first_order_interval_seconds()), ")");
  }
  return text + "\n";
}

}  // namespace

std::string CompletionText(const v1::ProjectCompletionResponse& response,
                           const Terminal& terminal) {
  const Paint paint(terminal.colour);
  const v1::Completion& completion = response.completion();
  std::vector<Row> rows = {{"from now", "p05", "p50", "p95", "by deadline",
                            "failures", "effective"}};
  rows.push_back(RunRow("as asked", completion));
  for (const v1::NamedCompletion& what_if : response.what_ifs()) {
    rows.push_back(RunRow(what_if.name(), what_if.completion()));
  }
  std::string text = paint.Heading("Completion") + "\n" + Table(rows);
  if (completion.unfinished_share() > 0) {
    absl::StrAppend(&text, "  ",
                    paint.Alarm(Percent(completion.unfinished_share()) +
                                " of the runs never end"),
                    "\n");
  }
  absl::StrAppend(&text, "\n", paint.Heading("Where the time goes"), "\n",
                  PartsText(completion), "\n", paint.Heading("Checkpoints"),
                  "\n", CheckpointText(completion));
  return text + ProvenanceText(response.provenance(), terminal);
}

}  // namespace prism::render
