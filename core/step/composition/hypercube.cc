#include "core/step/composition/hypercube.h"

#include <bit>
#include <utility>

#include "core/stats/draw_kernels.h"

namespace prism::step {
namespace {

constexpr uint32_t kHypercubeStreams = 0x5C000000;

}  // namespace

Hypercube::Hypercube(uint64_t key, int samples)
    : key_(key),
      replica_(stats::RowSize(samples), 0),
      sample_(stats::RowSize(samples)),
      uniform_(stats::RowSize(samples)),
      order_(stats::RowSize(samples)) {
  for (size_t i = 0; i < sample_.size(); ++i) sample_[i] = i;
}

std::vector<uint32_t> Hypercube::Shuffle() {
  const size_t n = sample_.size();
  stats::UniformRows({key_, 0, kHypercubeStreams + coordinate_++,
                      replica_.data(), sample_.data()},
                     n, uniform_.data(), order_.data());
  std::vector<uint32_t> stratum(n);
  for (size_t i = 0; i < n; ++i) stratum[i] = static_cast<uint32_t>(i);
  // By Fisher and Yates.
  for (size_t i = n - 1; i > 0; --i) {
    const size_t other =
        static_cast<size_t>(order_[i] * (static_cast<double>(i) + 1));
    std::swap(stratum[i], stratum[other]);
  }
  return stratum;
}

std::vector<double> Hypercube::Scores(
    const std::vector<uint32_t>& stratum) const {
  const size_t n = stratum.size();
  std::vector<double> score(n);
  for (size_t i = 0; i < n; ++i) {
    score[i] = (stratum[i] + uniform_[i]) / static_cast<double>(n);
  }
  stats::NormalScores(score.data(), n, score.data());
  return score;
}

std::vector<double> Hypercube::Next() { return Scores(Shuffle()); }

std::pair<std::vector<double>, std::vector<double>> Hypercube::NextPair() {
  std::vector<uint32_t> stratum = Shuffle();
  std::vector<double> first = Scores(stratum);
  if (!std::has_single_bit(stratum.size())) return {std::move(first), Next()};
  // The radical inverse in base 2 of the first coordinate is the second.
  const int bits = std::countr_zero(stratum.size());
  const auto shift = static_cast<uint32_t>(uniform_[0] * stratum.size());
  for (uint32_t& s : stratum) {
    uint32_t reversed = 0;
    for (int b = 0; b < bits; ++b) reversed |= (s >> b & 1) << (bits - 1 - b);
    s = reversed ^ shift;
  }
  // Other places within the strata.
  for (size_t i = 0; i < uniform_.size(); ++i) uniform_[i] = order_[i];
  return {std::move(first), Scores(stratum)};
}

}  // namespace prism::step
