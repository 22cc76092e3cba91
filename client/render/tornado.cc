#include "client/render/tornado.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "client/render/bars.h"
#include "client/render/paint.h"
#include "client/render/table.h"
#include "client/render/units.h"

namespace prism::render {
namespace {

using prism::v1::Cause;
using prism::v1::Explanation;

constexpr double kWorthShowing = 0.001;
constexpr int kMostInPicture = 24;
constexpr int kBarWidth = 24;

// Of the step as it is, what it has less without the source.
struct Swing {
  const Cause* cause;
  double p50 = 0, p95 = 0;
  double p50_error = 0, p95_error = 0;
};

std::vector<Swing> SwingsOf(const Explanation& explanation, int most) {
  const auto& is = explanation.step_time().quantiles();
  std::vector<Swing> swings;
  if (!(is.p50() > 0) || !(is.p95() > 0)) return swings;
  for (const Cause& cause : explanation.causes()) {
    const auto& without = cause.without();
    const Swing swing = {&cause, 1 - without.p50_seconds() / is.p50(),
                         1 - without.p95_seconds() / is.p95(),
                         without.p50_error_seconds() / is.p50(),
                         without.p95_error_seconds() / is.p95()};
    if (std::max(std::abs(swing.p50), std::abs(swing.p95)) >= kWorthShowing) {
      swings.push_back(swing);
    }
  }
  std::stable_sort(swings.begin(), swings.end(),
                   [](const Swing& a, const Swing& b) {
                     return std::abs(a.p95) > std::abs(b.p95);
                   });
  if (swings.size() > static_cast<size_t>(most)) swings.resize(most);
  return swings;
}

double Widest(const std::vector<Swing>& swings) {
  double widest = 0;
  for (const Swing& swing : swings) {
    widest = std::max({widest, std::abs(swing.p50), std::abs(swing.p95)});
  }
  return widest;
}

// What the step changes by; a saving is negative.
std::string Change(double saving) {
  return absl::StrFormat("%+.2f%%", -100 * saving);
}

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

// --- SVG; all in pixels of the picture's own size ---

constexpr int kWidth = 900;
constexpr int kLeft = 250;   // names
constexpr int kRight = 150;  // numbers
constexpr int kPlot = kWidth - kLeft - kRight;
constexpr int kTop = 64;
constexpr int kRow = 30;
constexpr int kBar = 10;
constexpr int kBottom = 16;
constexpr int kNameCharacters = 34;

constexpr absl::string_view kStyle =
    "<style>\n"
    ":root{color-scheme:light dark}\n"
    ".paper{fill:#ffffff}.ink{fill:#1f2328}.quiet{fill:#5c6570}"
    ".rule{stroke:#8c959f}.error{stroke:#1f2328}\n"
    ".p95{fill:#3f7fe0}.p50{fill:#a9c6f5}.longer{fill:#e5824f}\n"
    "text{font-family:ui-sans-serif,system-ui,sans-serif;font-size:12px}"
    ".title{font-size:14px;font-weight:600}\n"
    "@media(prefers-color-scheme:dark){.paper{fill:#16191d}.ink{fill:#e6e9ec}"
    ".quiet{fill:#9aa4af}.error{stroke:#e6e9ec}.p50{fill:#3a5687}}\n"
    "</style>\n";

// A name that fits, cut between characters.
std::string Shortened(std::string name) {
  if (DisplayWidth(name) <= kNameCharacters) return name;
  while (DisplayWidth(name) > kNameCharacters - 3) {
    // What continues a character goes with what begins it.
    while ((name.back() & 0xC0) == 0x80) name.pop_back();
    name.pop_back();
  }
  return name + "...";
}

class SvgWriter {
 public:
  explicit SvgWriter(const Explanation& explanation)
      : explanation_(explanation),
        swings_(SwingsOf(explanation, kMostInPicture)) {
    // Both sides where something would be longer, else the left alone.
    double longest = 0, shortest = 0;
    for (const Swing& swing : swings_) {
      longest = std::max({longest, -swing.p50, -swing.p95});
      shortest = std::max({shortest, swing.p50, swing.p95});
    }
    const double range = std::max(longest + shortest, kWorthShowing);
    scale_ = kPlot / range;
    zero_ = kLeft + shortest * scale_;
  }

  std::string Write() {
    const int height = kTop + kRow * static_cast<int>(swings_.size()) + kBottom;
    absl::StrAppend(
        &text_, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", kWidth,
        "\" height=\"", height, "\" viewBox=\"0 0 ", kWidth, " ", height,
        "\" role=\"img\" aria-label=\"What a training step would be without "
        "each source\">\n",
        kStyle, "<rect class=\"paper\" width=\"", kWidth, "\" height=\"",
        height, "\"/>\n");
    const auto& is = explanation_.step_time().quantiles();
    Text(20, 26, "ink title", "start",
         absl::StrCat("Without each source: p95 of ", Duration(is.p95()),
                      ", median of ", Duration(is.p50())));
    Key(20, "p95", "p95");
    Key(90, "p50", "median");
    Key(180, "longer", "longer");
    int y = kTop;
    for (const Swing& swing : swings_) {
      WriteSwing(swing, y);
      y += kRow;
    }
    if (swings_.empty()) {
      Text(kLeft, kTop - 4, "quiet", "start", "no source stands out");
    }
    Line("rule", zero_, kTop - 6, zero_, y);
    return absl::StrCat(text_, "</svg>\n");
  }

 private:
  void Text(double x, double y, absl::string_view style,
            absl::string_view anchor, absl::string_view words) {
    absl::StrAppendFormat(&text_,
                          "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" "
                          "text-anchor=\"%s\">%s</text>\n",
                          style, x, y, anchor, Escaped(words));
  }

  void Key(double x, absl::string_view style, absl::string_view words) {
    Rect(style, x, 36, 12, 12);
    Text(x + 18, 46, "quiet", "start", words);
  }

  void Rect(absl::string_view style, double x, double y, double width,
            double height) {
    absl::StrAppendFormat(&text_,
                          "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" "
                          "width=\"%.2f\" height=\"%.1f\"/>\n",
                          style, x, y, width, height);
  }

  void Line(absl::string_view style, double x1, double y1, double x2,
            double y2) {
    absl::StrAppendFormat(&text_,
                          "<line class=\"%s\" x1=\"%.2f\" y1=\"%.1f\" "
                          "x2=\"%.2f\" y2=\"%.1f\"/>\n",
                          style, x1, y1, x2, y2);
  }

  void WriteSwing(const Swing& swing, int y) {
    Text(kLeft - 10, y + 15, "ink", "end", Shortened(swing.cause->name()));
    WriteBar("p95", swing.p95, swing.p95_error, y + 1);
    WriteBar("p50", swing.p50, swing.p50_error, y + 2 + kBar);
    Text(kWidth - kRight + 12, y + 15, "quiet", "start",
         absl::StrCat(Change(swing.p95), ", ", Change(swing.p50)));
  }

  void WriteBar(absl::string_view style, double saving, double error, int y) {
    const double end = zero_ - saving * scale_;
    Rect(saving < 0 ? "longer" : style, std::min(zero_, end), y,
         std::abs(end - zero_), kBar);
    const double half = error * scale_;
    if (half > 0) {
      Line("error", end - half, y + kBar / 2.0, end + half, y + kBar / 2.0);
    }
  }

  const Explanation& explanation_;
  const std::vector<Swing> swings_;
  double scale_ = 1;  // pixels of a share of the step
  double zero_ = kLeft;
  std::string text_;
};

}  // namespace

std::string TornadoText(const Explanation& explanation,
                        const Terminal& terminal, int most) {
  const std::vector<Swing> swings = SwingsOf(explanation, most);
  if (swings.empty()) return "";
  const Paint paint(terminal.colour);
  const double widest = Widest(swings);
  std::vector<Row> rows = {{"without", "", "p95", "p50"}};
  for (const Swing& swing : swings) {
    const std::string bar =
        Bar(std::abs(swing.p95) / widest, kBarWidth, terminal.utf8);
    rows.push_back({swing.cause->name(), PadRight(bar, kBarWidth),
                    Change(swing.p95), Change(swing.p50)});
  }
  return Table(rows, {1});
}

std::string TornadoSvg(const Explanation& explanation) {
  return SvgWriter(explanation).Write();
}

}  // namespace prism::render
