#include "client/render/pipeline_text.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "client/render/bars.h"
#include "client/render/paint.h"
#include "client/render/pipeline_parts.h"
#include "client/render/units.h"
#include "client/render/wrap.h"

namespace prism::render {
namespace {

using prism::v1::RecordTimelineResponse;
using prism::v1::TimelineOperation;
using prism::v1::TimelineRank;
using prism::v1::TimelineStep;

// A terminal holds no more.
constexpr int kMostLines = 32;
constexpr int kIndent = 2;
constexpr int kShareWidth = 5;

// What fills a character: a phase, waiting, or nothing after the step's end.
enum Fill { kWaiting, kForward, kBackward, kWeights, kClosing, kAfter, kFills };

constexpr std::array<std::string_view, kFills> kBlocks = {"·", "▒", "█",
                                                          "▓", "▚", " "};
constexpr std::array<std::string_view, kFills> kAscii = {".", "-", "#",
                                                         "=", "*", " "};
constexpr std::array<const char*, kFills> kColours = {"2",  "34", "32",
                                                      "33", "35", ""};

std::string MarkOf(Fill fill, const Terminal& terminal) {
  return std::string((terminal.utf8 ? kBlocks : kAscii)[fill]);
}

Fill FillOf(prism::v1::OperationPhase phase) {
  switch (phase) {
    case prism::v1::OPERATION_PHASE_FORWARD:
      return kForward;
    case prism::v1::OPERATION_PHASE_BACKWARD:
    case prism::v1::OPERATION_PHASE_BACKWARD_INPUT:
      return kBackward;
    case prism::v1::OPERATION_PHASE_BACKWARD_WEIGHT:
      return kWeights;
    default:
      return kClosing;
  }
}

// The characters of one rank: what fills each, or a digit instead.
struct Line {
  std::vector<Fill> fill;
  std::vector<char> digit;  // 0: none
};

class Painter {
 public:
  Painter(const RecordTimelineResponse& response, const Terminal& terminal)
      : response_(response), terminal_(terminal), paint_(terminal.colour) {
    for (const TimelineStep& step : response.steps()) {
      longest_ = std::max(longest_, step.step_seconds());
      for (const TimelineRank& rank : step.ranks()) {
        label_width_ =
            std::max(label_width_, DisplayWidth(RankName(rank, step)));
      }
    }
    width_ = std::max(
        8, terminal.columns - kIndent - label_width_ - 2 - kShareWidth);
  }

  std::string Paint() {
    std::string text;
    for (const TimelineStep& step : response_.steps()) {
      if (!text.empty()) text += "\n";
      text += StepText(step);
    }
    return text + Legend();
  }

 private:
  std::string StepText(const TimelineStep& step) {
    std::string heading =
        Wrap("", absl::StrCat("Step, ", StepTitle(step, response_)),
             terminal_.columns);
    heading.pop_back();  // the newline takes no colour
    std::string text = paint_.Heading(heading) + "\n";
    const int lines = std::min(step.ranks_size(), kMostLines);
    for (int i = 0; i < lines; ++i) text += RankText(step.ranks(i), step);
    if (lines < step.ranks_size()) {
      text += Wrap("  ",
                   absl::StrCat("and ", step.ranks_size() - lines,
                                " more; a file ending in .svg shows all"),
                   terminal_.columns);
    }
    const std::string left_out = LeftOut(step);
    if (!left_out.empty()) text += Wrap("  ", left_out, terminal_.columns);
    return text + Axis(step);
  }

  int ColumnOf(double seconds) const {
    if (!(longest_ > 0)) return 0;
    return static_cast<int>(std::lround(seconds / longest_ * width_));
  }

  // What takes most of a character's time fills it.
  Line LineOf(const TimelineRank& rank, const TimelineStep& step) const {
    Line line;
    line.fill.assign(width_, kAfter);
    line.digit.assign(width_, 0);
    std::fill_n(line.fill.begin(), ColumnOf(step.step_seconds()), kWaiting);
    std::vector<double> most(width_, 0.5);  // of a character, less is no more
    for (const TimelineOperation& ran : rank.operations()) {
      FillOperation(ran, most, line);
    }
    return line;
  }

  void FillOperation(const TimelineOperation& ran, std::vector<double>& most,
                     Line& line) const {
    if (!(longest_ > 0)) return;
    const double begin = ran.begin_seconds() / longest_ * width_;
    const double end = ran.end_seconds() / longest_ * width_;
    int first = -1, last = -1;
    for (int i = static_cast<int>(begin); i < width_ && i < end; ++i) {
      const double share = std::min(end, i + 1.0) - std::max(begin, i + 0.0);
      if (share < most[i]) continue;
      most[i] = share;
      line.fill[i] = FillOf(ran.phase());
      line.digit[i] = 0;
      if (first < 0) first = i;
      last = i;
    }
    if (first >= 0 && ran.phase() != prism::v1::OPERATION_PHASE_CLOSING) {
      WriteNumber(ran.microbatch(), first, last, line);
    }
  }

  // At the beginning of the operation, where it leaves something of the mark.
  static void WriteNumber(uint32_t number, int first, int last, Line& line) {
    const std::string digits = absl::StrCat(number);
    if (last - first < static_cast<int>(digits.size())) return;
    std::copy(digits.begin(), digits.end(), line.digit.begin() + first);
  }

  std::string RankText(const TimelineRank& rank, const TimelineStep& step) {
    const Line line = LineOf(rank, step);
    std::string text;
    for (int i = 0; i < width_;) {
      const Fill fill = line.fill[i];
      std::string run;
      for (; i < width_ && line.fill[i] == fill; ++i) {
        if (line.digit[i] != 0) {
          run += line.digit[i];
        } else {
          run += MarkOf(fill, terminal_);
        }
      }
      text += InColour(fill, run);
    }
    return absl::StrCat(
        std::string(kIndent, ' '), PadRight(RankName(rank, step), label_width_),
        " ", text, " ", PadLeft(Percent(IdleShare(rank, step)), kShareWidth),
        "\n");
  }

  std::string InColour(Fill fill, const std::string& text) const {
    return *kColours[fill] == 0 ? text : paint_.In(kColours[fill], text);
  }

  // "0" under the beginning, the step's length under its end.
  std::string Axis(const TimelineStep& step) const {
    const std::string end = Duration(step.step_seconds());
    const int column =
        std::max(ColumnOf(step.step_seconds()), DisplayWidth(end) + 2);
    return absl::StrCat(std::string(kIndent + label_width_ + 1, ' '), "0",
                        PadLeft(end, column - 1), "\n");
  }

  std::string Legend() const {
    std::string legend;
    for (const auto& [fill, name] : {std::pair{kForward, "forward"},
                                     {kBackward, "backward"},
                                     {kWeights, "weight\tgradients"},
                                     {kClosing, "closing"},
                                     {kWaiting, "waiting"}}) {
      if (fill == kWeights && !HasWeights()) continue;
      absl::StrAppend(&legend, legend.empty() ? "" : ", ",
                      MarkOf(fill, terminal_), "\t", name);
    }
    return "\n" + Wrap("  ",
                       legend +
                           "; numbers are micro-batches, percentages "
                           "what a rank waits",
                       terminal_.columns);
  }

  bool HasWeights() const {
    for (const TimelineStep& step : response_.steps()) {
      for (const TimelineRank& rank : step.ranks()) {
        for (const TimelineOperation& ran : rank.operations()) {
          if (FillOf(ran.phase()) == kWeights) return true;
        }
      }
    }
    return false;
  }

  const RecordTimelineResponse& response_;
  const Terminal& terminal_;
  const render::Paint paint_;
  double longest_ = 0;  // seconds of the longest step
  int label_width_ = 0;
  int width_ = 0;  // characters of the longest step
};

}  // namespace

std::string PipelineText(const RecordTimelineResponse& response,
                         const Terminal& terminal) {
  return Painter(response, terminal).Paint();
}

}  // namespace prism::render
