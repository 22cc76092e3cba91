#include "core/step/composition/hypercube.h"

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

std::vector<double> Hypercube::Next() {
  const size_t n = sample_.size();
  stats::UniformRows({key_, 0, kHypercubeStreams + coordinate_++,
                      replica_.data(), sample_.data()},
                     n, uniform_.data(), order_.data());
  std::vector<uint32_t> stratum(n);
  for (size_t i = 0; i < n; ++i) stratum[i] = static_cast<uint32_t>(i);
  // A shuffle by Fisher and Yates.
  for (size_t i = n - 1; i > 0; --i) {
    const size_t other =
        static_cast<size_t>(order_[i] * (static_cast<double>(i) + 1));
    std::swap(stratum[i], stratum[other]);
  }
  std::vector<double> score(n);
  for (size_t i = 0; i < n; ++i) {
    score[i] = (stratum[i] + uniform_[i]) / static_cast<double>(n);
  }
  stats::NormalScores(score.data(), n, score.data());
  return score;
}

}  // namespace prism::step
