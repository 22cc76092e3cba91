// Numbers as people read them: a few digits and a unit.
#ifndef PRISM_CLIENT_RENDER_UNITS_H_
#define PRISM_CLIENT_RENDER_UNITS_H_

#include <cstdint>
#include <string>

namespace prism::render {

// A unit of time and how to print numbers in it.
struct TimeUnit {
  std::string name;    // "ms"
  double seconds = 1;  // in one unit
  int decimals = 0;    // after the point

  // "655.4", without the unit's name.
  std::string Number(double value_seconds) const;
  // "655.4 ms"
  std::string WithName(double value_seconds) const;
};

// The unit that writes `seconds` with a number of at least 1 where there is
// one, from ns to days, and with four significant digits.
TimeUnit UnitFor(double seconds);

// As UnitFor, with enough decimals to tell apart numbers that differ by
// `resolution_seconds`, and no more than three beyond the usual.
TimeUnit UnitFor(double seconds, double resolution_seconds);

// "655.4 ms"
std::string Duration(double seconds);

// "61.3 GiB"
std::string Bytes(double bytes);

// "7.1%" of a share of 0.071; two significant digits below 10%.
std::string Percent(double share);

// "131,072"
std::string Grouped(int64_t count);

// "54,200", "3.41 M": a rate with three significant digits.
std::string Rate(double per_second);

}  // namespace prism::render

#endif  // PRISM_CLIENT_RENDER_UNITS_H_
