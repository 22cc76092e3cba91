#include "core/estimate/timed_stretch.h"

#include <algorithm>
#include <cstddef>

namespace prism::estimate {
namespace {

// Share of the longest stretch below which one is short.
constexpr double kShort = 0.2;

using Stretches = std::vector<TimedStretch>;

// The next stretch round from `i` of the same kind, or `i`.
size_t NextOfKind(const Stretches& stretches, size_t i) {
  size_t next = i;
  do {
    next = (next + 1) % stretches.size();
  } while (stretches[next].recompute != stretches[i].recompute);
  return next;
}

// The stretch before `i`, going round, that ends in a collective, or `i`.
size_t MeetingBefore(const Stretches& stretches, size_t i) {
  size_t before = i;
  do {
    before = (before + stretches.size() - 1) % stretches.size();
  } while (before != i && !stretches[before].then);
  return before;
}

// Moves what stretch `i` does to others. False where there are none.
bool MoveAway(size_t i, Stretches& stretches) {
  const size_t next = NextOfKind(stretches, i);
  if (next == i) return false;
  if (stretches[i].then) {
    const size_t before = MeetingBefore(stretches, i);
    if (before == i ||
        stretches[before].of_context != stretches[i].of_context) {
      return false;
    }
    *stretches[before].then += *stretches[i].then;
  }
  stretches[next].seconds += stretches[i].seconds;
  return true;
}

}  // namespace

Stretches JoinShortStretches(Stretches stretches) {
  double longest = 0;
  for (const TimedStretch& stretch : stretches) {
    longest = std::max(longest, stretch.seconds);
  }
  for (size_t i = 0; i < stretches.size();) {
    const bool joins =
        !stretches[i].then || stretches[i].seconds < kShort * longest;
    if (joins && MoveAway(i, stretches)) {
      stretches.erase(stretches.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return stretches;
}

}  // namespace prism::estimate
