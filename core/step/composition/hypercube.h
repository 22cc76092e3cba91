// Hypercube: stratified normal scores, one coordinate at a time.
#ifndef PRISM_CORE_STEP_COMPOSITION_HYPERCUBE_H_
#define PRISM_CORE_STEP_COMPOSITION_HYPERCUBE_H_

#include <cstdint>
#include <vector>

namespace prism::step {

// A Latin hypercube (McKay, Beckman and Conover, 1979): each coordinate has
// one score in each of `samples` equally likely strata, in random order. The
// scores are the same for all coordinates, so that what is a function of one
// coordinate is tabulated over the strata and looked up.
//
// The first coordinates are even together, not each by itself alone: a net of
// Sobol' (1967) in its own random order. Not thread-safe.
class Hypercube {
 public:
  // Coordinates of the net.
  static constexpr int kEven = 6;

  // The stratum of each sample.
  using Coordinate = std::vector<uint32_t>;

  // Requires: `samples` is a power of two, at least 8 and at most 2^16.
  Hypercube(uint64_t key, int samples);

  // By stratum, rising: a score at a random place of each.
  const std::vector<double>& scores() const { return score_; }

  // The next coordinate; the first ones should be those that matter most.
  Coordinate Next();

 private:
  Coordinate RandomOrder() const;
  // That of the net after the first, which is a random order.
  Coordinate NextOfNet() const;

  uint64_t key_;
  int drawn_ = 0;  // coordinates
  int bits_ = 0;   // of a stratum's number
  std::vector<double> score_;
  Coordinate first_;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_HYPERCUBE_H_
