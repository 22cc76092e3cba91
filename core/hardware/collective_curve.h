// CollectiveCurve: the time of a collective or transfer as a function of its
// size.
//
// The least of a few ways, each constant + a x bytes + b x sqrt(bytes): it has
// no cliffs, never falls as bytes grow, and takes some ten nanoseconds to
// evaluate. Plain value; copy freely.
#ifndef PRISM_CORE_HARDWARE_COLLECTIVE_CURVE_H_
#define PRISM_CORE_HARDWARE_COLLECTIVE_CURVE_H_

#include <array>

namespace prism::hardware {

// A time, and the part of it that does not depend on the size.
struct LinkTime {
  double seconds = 0;
  double latency_seconds = 0;
  // How often a node holds the others up, on average (link_spread.h); what
  // that takes is part of `seconds`.
  double stalls = 0;

  // One after the other.
  LinkTime& operator+=(const LinkTime& other) {
    seconds += other.seconds;
    latency_seconds += other.latency_seconds;
    stalls += other.stalls;
    return *this;
  }

  // A part of it, which has its share of everything.
  LinkTime Part(double share) const {
    return {share * seconds, share * latency_seconds, share * stalls};
  }
};

class CollectiveCurve final {
 public:
  static constexpr int kMostWays = 7;

  // Adds a way of `latency` seconds and bytes x `seconds_per_byte` = x more,
  // and sqrt(ramp_seconds x x) until the links are full.
  // Requires: fewer than kMostWays so far; no argument below 0.
  void Add(double latency, double seconds_per_byte, double ramp_seconds = 0);

  // Of the fastest way; 0 where there is none. Requires: bytes >= 0.
  LinkTime At(double bytes) const;

  int ways() const { return count_; }

 private:
  struct Way {
    double latency = 0;
    double per_byte = 0;
    double per_root = 0;
  };
  std::array<Way, kMostWays> ways_;
  int count_ = 0;
};

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_COLLECTIVE_CURVE_H_
