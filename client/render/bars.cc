#include "client/render/bars.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace prism::render {
namespace {

constexpr int kEighths = 8;

// By eighths of a character, from the left and from below.
constexpr std::array<std::string_view, 8> kLeftBlocks = {"",  "▏", "▎", "▍",
                                                         "▌", "▋", "▊", "▉"};
constexpr std::array<std::string_view, 9> kLowerBlocks = {
    " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 9> kLowerAscii = {
    " ", ".", ".", ".", ":", ":", ":", "#", "#"};

constexpr std::array<std::string_view, 7> kPartBlocks = {"█", "▓", "▒", "▚",
                                                         "▞", "▙", "▟"};
constexpr std::array<std::string_view, 7> kPartAscii = {"#", "=", "+", "%",
                                                        "o", "@", "*"};

std::string Repeat(std::string_view text, int count) {
  std::string repeated;
  for (int i = 0; i < count; ++i) repeated += text;
  return repeated;
}

// Characters of each part, the largest parts giving way to the smallest.
std::vector<int> PartWidths(const std::vector<double>& shares, int width) {
  std::vector<int> widths;
  for (double share : shares) {
    const int rounded = static_cast<int>(std::lround(share * width));
    widths.push_back(share > 0 ? std::max(rounded, 1) : 0);
  }
  while (std::accumulate(widths.begin(), widths.end(), 0) > width) {
    --*std::max_element(widths.begin(), widths.end());
  }
  return widths;
}

}  // namespace

std::string Bar(double share, int width, bool utf8) {
  const double characters = std::clamp(share, 0.0, 1.0) * width;
  if (!utf8) return Repeat("#", static_cast<int>(std::lround(characters)));
  const int eighths = static_cast<int>(std::lround(characters * kEighths));
  return Repeat("█", eighths / kEighths) +
         std::string(kLeftBlocks[eighths % kEighths]);
}

std::string_view PartMark(int index, bool utf8) {
  const auto& marks = utf8 ? kPartBlocks : kPartAscii;
  return marks[index % marks.size()];
}

std::string StackedBar(const std::vector<double>& shares, int width,
                       bool utf8) {
  const std::vector<int> widths = PartWidths(shares, width);
  std::string bar;
  int used = 0;
  for (size_t i = 0; i < widths.size(); ++i) {
    bar += Repeat(PartMark(static_cast<int>(i), utf8), widths[i]);
    used += widths[i];
  }
  return bar + Repeat(utf8 ? "░" : ".", width - used);
}

std::vector<std::string> Columns(const std::vector<double>& heights, int rows,
                                 bool utf8) {
  const auto& marks = utf8 ? kLowerBlocks : kLowerAscii;
  std::vector<std::string> lines(rows);
  for (double height : heights) {
    int eighths = static_cast<int>(
        std::lround(std::clamp(height, 0.0, 1.0) * rows * kEighths));
    if (height > 0) eighths = std::max(eighths, 1);
    for (int row = 0; row < rows; ++row) {
      const int below = (rows - 1 - row) * kEighths;
      lines[row] += marks[std::clamp(eighths - below, 0, kEighths)];
    }
  }
  return lines;
}

int DisplayWidth(std::string_view text) {
  return static_cast<int>(std::count_if(
      text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string PadRight(std::string_view text, int width) {
  return std::string(text) + Repeat(" ", width - DisplayWidth(text));
}

std::string PadLeft(std::string_view text, int width) {
  return Repeat(" ", width - DisplayWidth(text)) + std::string(text);
}

}  // namespace prism::render
