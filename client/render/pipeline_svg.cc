#include "client/render/pipeline_svg.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "client/render/pipeline_parts.h"
#include "client/render/units.h"

namespace prism::render {
namespace {

using prism::v1::RecordTimelineResponse;
using prism::v1::TimelineOperation;
using prism::v1::TimelineRank;
using prism::v1::TimelineStep;

// All in pixels of the picture's own size.
constexpr int kWidth = 1200;
constexpr int kLeft = 130;  // names of ranks
constexpr int kRight = 64;  // shares of waiting
constexpr int kPlot = kWidth - kLeft - kRight;
constexpr int kTop = 44;  // the legend
constexpr int kTitle = 28;
constexpr int kRow = 20;  // with the gap below
constexpr int kBar = 17;
constexpr int kAxis = 34;
constexpr double kDigit = 6.2;  // width of one

constexpr int kMostTips = 20'000;
constexpr int kTicks = 8;

constexpr absl::string_view kStyle =
    "<style>\n"
    ":root{color-scheme:light dark}\n"
    ".paper{fill:#ffffff}.idle{fill:#e9ecef}.ink{fill:#1f2328}"
    ".quiet{fill:#5c6570}.rule{stroke:#c4cad1}\n"
    ".forward{fill:#8ab4f8}.backward,.input{fill:#7fcf9a}.weights{fill:#f6cf65}"
    ".closing{fill:#c79bf2}\n"
    ".later{fill-opacity:.6}.number{fill:#14181c;font-size:10px;"
    "pointer-events:none}\n"
    "text{font-family:ui-sans-serif,system-ui,sans-serif;font-size:12px}"
    ".title{font-size:14px;font-weight:600}\n"
    "@media(prefers-color-scheme:dark){.paper{fill:#16191d}"
    ".idle{fill:#2b3036}.ink{fill:#e6e9ec}.quiet{fill:#9aa4af}"
    ".rule{stroke:#4a525b}.later{fill-opacity:.7}}\n"
    "</style>\n";

// A step of 1, 2 or 5 times a power of ten that gives at most kTicks.
double TickStep(double seconds) {
  double step = std::pow(10, std::floor(std::log10(seconds / kTicks)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (seconds / (step * factor) <= kTicks) return step * factor;
  }
  return seconds;
}

class SvgWriter {
 public:
  explicit SvgWriter(const RecordTimelineResponse& response)
      : response_(response), chunks_(ChunksOf(response)) {
    int64_t operations = 0;
    for (const TimelineStep& step : response.steps()) {
      longest_ = std::max(longest_, step.step_seconds());
      height_ += kTitle + kRow * step.ranks_size() + kAxis;
      if (!LeftOut(step).empty()) height_ += kRow;
      for (const TimelineRank& rank : step.ranks()) {
        operations += rank.operations_size();
        for (const TimelineOperation& ran : rank.operations()) {
          has_weights_ =
              has_weights_ ||
              ran.phase() == prism::v1::OPERATION_PHASE_BACKWARD_WEIGHT;
        }
      }
    }
    has_tips_ = operations <= kMostTips;
  }

  std::string Write() {
    absl::StrAppend(
        &text_, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", kWidth,
        "\" height=\"", height_, "\" viewBox=\"0 0 ", kWidth, " ", height_,
        "\" role=\"img\" aria-label=\"Operations of a training "
        "step over time\">\n",
        kStyle);
    absl::StrAppend(&text_, "<rect class=\"paper\" width=\"", kWidth,
                    "\" height=\"", height_, "\"/>\n");
    WriteLegend();
    int y = kTop;
    for (const TimelineStep& step : response_.steps()) y = WriteStep(step, y);
    return absl::StrCat(text_, "</svg>\n");
  }

 private:
  void Text(double x, double y, absl::string_view style,
            absl::string_view anchor, absl::string_view words) {
    absl::StrAppendFormat(&text_,
                          "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" "
                          "text-anchor=\"%s\">%s</text>\n",
                          style, x, y, anchor, words);
  }

  void WriteLegend() {
    double x = kLeft;
    const auto entry = [&](const char* style, const char* words) {
      absl::StrAppendFormat(&text_,
                            "<rect class=\"%s\" x=\"%.1f\" y=\"14\" "
                            "width=\"14\" height=\"14\" rx=\"2\"/>\n",
                            style, x);
      Text(x + 20, 25, "ink", "start", words);
      x += 130;
    };
    entry("forward", "forward");
    entry("backward", has_weights_ ? "input gradients" : "backward");
    if (has_weights_) entry("weights", "weight gradients");
    entry("closing", "closing");
    entry("idle", "waiting");
    Text(kWidth - kRight + 6, 25, "quiet", "start", "waiting");
  }

  // Returns where the next panel begins.
  int WriteStep(const TimelineStep& step, int y) {
    Text(kLeft, y + 18, "ink title", "start", StepTitle(step, response_));
    y += kTitle;
    const int top = y;
    for (const TimelineRank& rank : step.ranks()) {
      WriteRank(rank, step, y);
      y += kRow;
    }
    WriteAxis(step, top, y);
    if (const std::string left_out = LeftOut(step); !left_out.empty()) {
      Text(kLeft, y + kAxis, "quiet", "start", left_out);
      y += kRow;
    }
    return y + kAxis;
  }

  double X(double seconds) const {
    return longest_ > 0 ? kLeft + seconds / longest_ * kPlot : kLeft;
  }

  void WriteRank(const TimelineRank& rank, const TimelineStep& step, int y) {
    Text(kLeft - 8, y + 13, "ink", "end", RankName(rank, step));
    absl::StrAppendFormat(&text_,
                          "<rect class=\"idle\" x=\"%d\" y=\"%d\" "
                          "width=\"%.2f\" height=\"%d\"/>\n",
                          kLeft, y, X(step.step_seconds()) - kLeft, kBar);
    for (const TimelineOperation& ran : rank.operations()) {
      WriteOperation(ran, y);
    }
    Text(kWidth - kRight + 6, y + 13, "quiet", "start",
         Percent(IdleShare(rank, step)));
  }

  void WriteOperation(const TimelineOperation& ran, int y) {
    const double x = X(ran.begin_seconds());
    const double width = X(ran.end_seconds()) - x;
    if (!(width > 0)) return;
    const bool closing = ran.phase() == prism::v1::OPERATION_PHASE_CLOSING;
    const int chunk = closing ? 0 : chunks_[ran.virtual_stage()];
    // A hair of space tells neighbours apart where there is room for it.
    absl::StrAppendFormat(&text_,
                          "<rect class=\"%s%s\" x=\"%.2f\" y=\"%d\" "
                          "width=\"%.2f\" height=\"%d\"",
                          PhaseName(ran.phase()), chunk > 0 ? " later" : "", x,
                          y, width > 3 ? width - 0.6 : width, kBar);
    absl::StrAppend(&text_,
                    has_tips_ ? ">" + Tip(ran, chunk) + "</rect>\n" : "/>\n");
    const std::string number = absl::StrCat(ran.microbatch());
    if (!closing && width > kDigit * static_cast<double>(number.size()) + 2) {
      Text(x + width / 2, y + 12, "number", "middle", number);
    }
  }

  std::string Tip(const TimelineOperation& ran, int chunk) const {
    std::string tip = absl::StrCat("<title>", PhaseName(ran.phase()));
    if (ran.phase() != prism::v1::OPERATION_PHASE_CLOSING) {
      absl::StrAppend(&tip, " of micro-batch ", ran.microbatch(), ", chunk ",
                      chunk);
    }
    absl::StrAppend(&tip, ": ", Duration(ran.begin_seconds()), " to ",
                    Duration(ran.end_seconds()));
    const double waited = ran.begin_seconds() - ran.ready_seconds();
    if (waited > 0)
      absl::StrAppend(&tip, " after ", Duration(waited), " of waiting");
    return absl::StrCat(tip, "</title>");
  }

  void WriteAxis(const TimelineStep& step, int top, int bottom) {
    const double seconds = step.step_seconds();
    if (!(seconds > 0)) return;
    const double tick = TickStep(longest_);
    const TimeUnit unit = UnitFor(longest_, tick);
    const int ticks = static_cast<int>(std::floor(seconds / tick + 1e-9));
    for (int i = 0; i <= ticks; ++i) {
      const double x = X(i * tick);
      WriteRule(x, bottom, bottom + 4);
      Text(x, bottom + 16, "quiet", "middle",
           i == 0 ? "0" : unit.WithName(i * tick));
    }
    WriteRule(X(seconds), top, bottom + 4);
  }

  void WriteRule(double x, int from, int to) {
    absl::StrAppendFormat(&text_,
                          "<line class=\"rule\" x1=\"%.2f\" y1=\"%d\" "
                          "x2=\"%.2f\" y2=\"%d\"/>\n",
                          x, from, x, to);
  }

  const RecordTimelineResponse& response_;
  const std::vector<int> chunks_;
  std::string text_;
  double longest_ = 0;  // seconds of the longest step
  int height_ = kTop;
  bool has_weights_ = false;
  bool has_tips_ = false;
};

}  // namespace

std::string PipelineSvg(const RecordTimelineResponse& response) {
  return SvgWriter(response).Write();
}

}  // namespace prism::render
