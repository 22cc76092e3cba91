#include "client/render/units.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace prism::render {
namespace {

struct Scale {
  const char* name;
  double size;  // of one unit
  double from;  // smallest value that is written in it
};

// The last scale whose `from` does not exceed `value`; the first where all do.
template <size_t N>
Scale ScaleFor(const std::array<Scale, N>& scales, double value) {
  Scale best = scales.front();
  for (const Scale& candidate : scales) {
    if (value >= candidate.from) best = candidate;
  }
  return best;
}

// Decimals that give `number` `digits` significant digits.
int DecimalsFor(double number, int digits) {
  if (!(number > 0)) return 0;
  const int whole = static_cast<int>(std::floor(std::log10(number))) + 1;
  return std::clamp(digits - whole, 0, digits);
}

std::string Fixed(double number, int decimals) {
  return absl::StrFormat("%.*f", decimals, number);
}

}  // namespace

std::string TimeUnit::Number(double value_seconds) const {
  return Fixed(value_seconds / seconds, decimals);
}

std::string TimeUnit::WithName(double value_seconds) const {
  return absl::StrCat(Number(value_seconds), " ", name);
}

TimeUnit UnitFor(double seconds) {
  // Minutes, hours and days begin late: 95 s reads better than 1.58 min.
  static constexpr std::array<Scale, 7> kScales = {{{"ns", 1e-9, 0},
                                                    {"us", 1e-6, 1e-6},
                                                    {"ms", 1e-3, 1e-3},
                                                    {"s", 1, 1},
                                                    {"min", 60, 600},
                                                    {"h", 3600, 36000},
                                                    {"d", 86400, 864000}}};
  const Scale scale = ScaleFor(kScales, seconds);
  return {scale.name, scale.size, DecimalsFor(seconds / scale.size, 4)};
}

TimeUnit UnitFor(double seconds, double resolution_seconds) {
  TimeUnit unit = UnitFor(seconds);
  if (!(resolution_seconds > 0)) return unit;
  const int needed = static_cast<int>(
      std::ceil(-std::log10(resolution_seconds / unit.seconds)));
  unit.decimals = std::clamp(needed, unit.decimals, unit.decimals + 3);
  return unit;
}

std::string Duration(double seconds) {
  return UnitFor(seconds).WithName(seconds);
}

std::string Bytes(double bytes) {
  static constexpr std::array<Scale, 5> kScales = {{{"B", 1, 0},
                                                    {"KiB", 0x1p10, 0x1p10},
                                                    {"MiB", 0x1p20, 0x1p20},
                                                    {"GiB", 0x1p30, 0x1p30},
                                                    {"TiB", 0x1p40, 0x1p40}}};
  const Scale scale = ScaleFor(kScales, bytes);
  const double number = bytes / scale.size;
  const int decimals = scale.size == 1 ? 0 : DecimalsFor(number, 3);
  return absl::StrCat(Fixed(number, decimals), " ", scale.name);
}

std::string Percent(double share) {
  const double percent = share * 100;
  const int decimals = std::abs(percent) < 9.95 ? 1 : 0;
  return absl::StrCat(Fixed(percent, decimals), "%");
}

std::string Grouped(int64_t count) {
  std::string digits = absl::StrCat(std::abs(count));
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), 1, ',');
  }
  return absl::StrCat(count < 0 ? "-" : "", digits);
}

std::string Rate(double per_second) {
  if (per_second >= 1e6) {
    const double millions = per_second / 1e6;
    return absl::StrCat(Fixed(millions, DecimalsFor(millions, 3)), " M");
  }
  if (per_second < 100) return Fixed(per_second, DecimalsFor(per_second, 3));
  const double step = std::pow(10, std::floor(std::log10(per_second)) - 2);
  return Grouped(std::llround(per_second / step) * std::llround(step));
}

}  // namespace prism::render
