#include "core/step/composition/hypercube.h"

#include <array>
#include <bit>
#include <utility>

#include "core/base/check.h"
#include "core/stats/draw_kernels.h"
#include "core/step/composition/order_kernels.h"

namespace prism::step {
namespace {

// Operation numbers of the streams: the places in the strata, and for each
// coordinate its order and its shift.
constexpr uint32_t kPlaceStreams = 0x5C000000;
constexpr uint32_t kOrderStreams = 0x5C000001;

// A coordinate of Sobol's sequence: a primitive polynomial over GF(2), without
// its first and its last term, and the numbers its directions start with (Joe
// and Kuo, 2008).
struct Directions {
  int degree = 0;
  uint32_t polynomial = 0;
  std::array<uint32_t, 4> start = {};
};
constexpr Directions kDirections[Hypercube::kEven - 2] = {
    {1, 0, {1}}, {2, 1, {1, 3}}, {3, 1, {1, 3, 1}}, {3, 2, {1, 1, 1}}};

std::pair<std::vector<double>, std::vector<double>> Uniforms(uint64_t key,
                                                             uint32_t operation,
                                                             size_t n) {
  const std::vector<uint64_t> replica(stats::RowSize(n), 0);
  std::vector<uint64_t> sample(stats::RowSize(n));
  for (size_t i = 0; i < sample.size(); ++i) sample[i] = i;
  std::pair<std::vector<double>, std::vector<double>> uniform;
  uniform.first.resize(sample.size());
  uniform.second.resize(sample.size());
  stats::UniformRows({key, 0, operation, replica.data(), sample.data()}, n,
                     uniform.first.data(), uniform.second.data());
  return uniform;
}

// What bit k of a sample's number adds to coordinate `number` of the sequence,
// in `bits` bits; the first is the radical inverse.
std::vector<uint32_t> DirectionNumbers(int number, int bits) {
  std::vector<uint32_t> odd(bits, 1);
  if (number > 0) {
    const auto& [degree, polynomial, start] = kDirections[number - 1];
    for (int k = 0; k < bits; ++k) {
      if (k < degree) {
        odd[k] = start[k];
        continue;
      }
      odd[k] = odd[k - degree] ^ odd[k - degree] << degree;
      for (int i = 1; i < degree; ++i) {
        if (polynomial >> (degree - 1 - i) & 1) odd[k] ^= odd[k - i] << i;
      }
    }
  }
  for (int k = 0; k < bits; ++k) odd[k] <<= bits - 1 - k;
  return odd;
}

}  // namespace

Hypercube::Hypercube(uint64_t key, int samples)
    : key_(key), bits_(std::countr_zero(static_cast<uint32_t>(samples))) {
  PRISM_CHECK(samples >= 8 &&
              std::has_single_bit(static_cast<uint32_t>(samples)));
  score_ = Uniforms(key, kPlaceStreams, samples).first;
  for (int i = 0; i < samples; ++i) score_[i] = (i + score_[i]) / samples;
  stats::NormalScores(score_.data(), score_.size(), score_.data());
}

Hypercube::Coordinate Hypercube::Next() {
  Coordinate stratum =
      drawn_ == 0 || drawn_ >= kEven ? RandomOrder() : NextOfNet();
  if (drawn_++ == 0) first_ = stratum;
  return stratum;
}

Hypercube::Coordinate Hypercube::RandomOrder() const {
  constexpr int kRounds = OrderRounds::kRounds;
  const auto [factor, offset] = Uniforms(key_, kOrderStreams + drawn_, kRounds);
  OrderRounds rounds{.bits = bits_};
  for (int r = 0; r < kRounds; ++r) {
    rounds.factor[r] = 2 * static_cast<uint32_t>(factor[r] * 0x1p30) + 1;
    rounds.offset[r] = static_cast<uint32_t>(offset[r] * 0x1p32);
  }
  Coordinate stratum(score_.size());
  OrderRow(rounds, stratum.size(), stratum.data());
  return stratum;
}

Hypercube::Coordinate Hypercube::NextOfNet() const {
  const std::vector<uint32_t> direction = DirectionNumbers(drawn_ - 1, bits_);
  const auto [shift, unused] = Uniforms(key_, kOrderStreams + drawn_, 1);
  // By the stratum of the first coordinate, which is the sample's number.
  std::vector<uint32_t> of_first(score_.size());
  of_first[0] =
      static_cast<uint32_t>(shift[0] * static_cast<double>(score_.size()));
  for (uint32_t i = 1; i < of_first.size(); ++i) {
    of_first[i] = of_first[i & (i - 1)] ^ direction[std::countr_zero(i)];
  }
  Coordinate stratum(score_.size());
  for (size_t i = 0; i < stratum.size(); ++i) {
    stratum[i] = of_first[first_[i]];
  }
  return stratum;
}

}  // namespace prism::step
