#include "client/render/step_time_text.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "client/render/bars.h"
#include "client/render/density.h"
#include "client/render/paint.h"
#include "client/render/units.h"
#include "client/render/wrap.h"

namespace prism::render {
namespace {

using prism::v1::Prediction;
using prism::v1::Quantiles;

constexpr int kQuantiles = 7;
const char* const kNames[kQuantiles] = {"p01", "p05", "p25", "p50",
                                        "p75", "p95", "p99"};
constexpr int kNumberWidth = 12;
constexpr int kErrorWidth = 10;

std::vector<double> Values(const Quantiles& q) {
  return {q.p01(), q.p05(), q.p25(), q.p50(), q.p75(), q.p95(), q.p99()};
}

// Normal scores of the quantiles.
std::vector<double> Scores() {
  return {-2.3263, -1.6449, -0.6745, 0, 0.6745, 1.6449, 2.3263};
}

// What the table and the histogram are drawn from.
struct StepTimePicture {
  std::vector<double> quantiles;
  std::vector<double> errors;
  TimeUnit unit;
  bool has_errors = false;
};

StepTimePicture PictureOf(const Prediction& prediction) {
  StepTimePicture picture;
  picture.quantiles = Values(prediction.step_time().quantiles());
  picture.errors = Values(prediction.sampling().standard_error());
  const double smallest =
      *std::min_element(picture.errors.begin(), picture.errors.end());
  picture.has_errors = smallest > 0;
  picture.unit = UnitFor(picture.quantiles[kQuantiles / 2], smallest);
  return picture;
}

std::string TableLine(const StepTimePicture& picture, int i,
                      const Terminal& terminal) {
  std::string line = absl::StrCat(
      "  ", kNames[i],
      PadLeft(picture.unit.WithName(picture.quantiles[i]), kNumberWidth));
  if (picture.has_errors) {
    line += PadLeft(absl::StrCat(terminal.utf8 ? "± " : "+- ",
                                 picture.unit.Number(picture.errors[i])),
                    kErrorWidth);
  }
  return line;
}

int TableWidth(const StepTimePicture& picture) {
  return 5 + kNumberWidth + (picture.has_errors ? kErrorWidth : 0);
}

// The ends of the histogram, under it.
std::string AxisLine(const StepTimePicture& picture, int margin, int width) {
  const std::string low = picture.unit.WithName(picture.quantiles.front());
  const std::string high = picture.unit.WithName(picture.quantiles.back());
  if (DisplayWidth(low) + DisplayWidth(high) + 2 > width) return "";
  return std::string(margin, ' ') + low +
         PadLeft(high, width - DisplayWidth(low)) + "\n";
}

std::string TableBesideHistogram(const StepTimePicture& picture,
                                 const Terminal& terminal, const Paint& paint) {
  const int margin = TableWidth(picture) + 4;
  const int width = std::max(terminal.columns - margin - 2, 8);
  const std::vector<double> density =
      RelativeDensity(Scores(), picture.quantiles, width);
  const std::vector<std::string> columns =
      Columns(density, kQuantiles, terminal.utf8);
  std::string text;
  for (int i = 0; i < kQuantiles; ++i) {
    text += TableLine(picture, i, terminal);
    if (!density.empty()) text += "    " + paint.Bar(columns[i]);
    text += "\n";
  }
  return density.empty() ? text : text + AxisLine(picture, margin, width);
}

// A duration that Wrap keeps on one line.
std::string TiedDuration(double seconds) {
  std::string text = Duration(seconds);
  std::replace(text.begin(), text.end(), ' ', '\t');
  return text;
}

// "Mean 655.8 ms, standard deviation 5.14 ms (0.8%)"
std::string SpreadText(const Prediction& prediction) {
  const auto& step = prediction.step_time();
  std::string text = absl::StrCat("Mean ", TiedDuration(step.mean_seconds()));
  if (!(step.standard_deviation_seconds() > 0)) {
    return text + "; every step takes the same time.";
  }
  return absl::StrCat(
      text, ", standard deviation ",
      TiedDuration(step.standard_deviation_seconds()), " (",
      Percent(step.standard_deviation_seconds() / step.mean_seconds()), ").");
}

// What variability costs: the median against the step without it.
std::string NominalText(const Prediction& prediction) {
  const double nominal = prediction.nominal_step_seconds();
  if (!(nominal > 0)) return "";
  const double excess = prediction.step_time().quantiles().p50() / nominal - 1;
  std::string text =
      absl::StrCat(" Without variability ", TiedDuration(nominal));
  if (std::abs(excess) < 0.0005) return text + ".";
  return absl::StrCat(text, ": the median step takes ",
                      Percent(std::abs(excess)),
                      excess > 0 ? " longer." : " less.");
}

}  // namespace

std::string StepTimeText(const Prediction& prediction,
                         const Terminal& terminal) {
  const Paint paint(terminal.colour);
  const StepTimePicture picture = PictureOf(prediction);
  return absl::StrCat(
      paint.Heading("Step time"), "\n",
      TableBesideHistogram(picture, terminal, paint), "\n",
      Wrap("  ", SpreadText(prediction) + NominalText(prediction),
           terminal.columns));
}

}  // namespace prism::render
