// Hypercube: stratified normal scores, one coordinate at a time.
#ifndef PRISM_CORE_STEP_COMPOSITION_HYPERCUBE_H_
#define PRISM_CORE_STEP_COMPOSITION_HYPERCUBE_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace prism::step {

// A Latin hypercube (McKay, Beckman and Conover, 1979): each coordinate has
// one score in each of `samples` equally likely strata, in random order. Not
// thread-safe.
class Hypercube {
 public:
  Hypercube(uint64_t key, int samples);

  // The next coordinate, one score a sample.
  std::vector<double> Next();

  // The next two coordinates. Where the number of samples is a power of two,
  // they are even in both together: a Hammersley net, randomly shifted, in
  // random order.
  std::pair<std::vector<double>, std::vector<double>> NextPair();

 private:
  // A random order of the strata; fills uniform_ as well.
  std::vector<uint32_t> Shuffle();
  // Scores at random places of the strata.
  std::vector<double> Scores(const std::vector<uint32_t>& stratum) const;

  uint64_t key_;
  uint32_t coordinate_ = 0;
  std::vector<uint64_t> replica_, sample_;
  std::vector<double> uniform_, order_;
};

}  // namespace prism::step

#endif  // PRISM_CORE_STEP_COMPOSITION_HYPERCUBE_H_
