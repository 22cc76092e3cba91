#include "core/hardware/product_table.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace prism::hardware {
namespace {

constexpr size_t kSizes = ProductTable::kSizes;

constexpr int16_t kAmpere[] = {
#include "core/hardware/product_data/ampere.inc"
};
constexpr int16_t kHopper[] = {
#include "core/hardware/product_data/hopper.inc"
};

// Fitted by tests/tools/product_table.
constexpr TileModel kAmpereTiles = {
    .sustained = 0.945,
    .inner_overhead = 221,
    .memory_share = 0.702,
    .launch_seconds = 2.84e-6,
    .wave_share = 0.363,
    .rates = {1, 0.885, 0.767, 0.713, 0.759},
};
constexpr TileModel kHopperTiles = {
    .sustained = 0.873,
    .inner_overhead = 177,
    .memory_share = 0.858,
    .launch_seconds = 2.55e-6,
    .wave_share = 0.071,
    .rates = {1, 0.988, 0.998, 0.970, 0.984},
};

// Data sheets of what was measured: A100 SXM 80 GB and H100 SXM.
constexpr ProductRates kAmpereRates = {
    .flops_per_second = 312e12,
    .start_flops_per_second = 312e12,
    .bytes_per_second = 2039e9,
    .processors = 108,
};
constexpr ProductRates kHopperRates = {
    .flops_per_second = 989.5e12,
    .start_flops_per_second = 989.5e12,
    .bytes_per_second = 3350e9,
    .processors = 132,
};

// Between which two sizes a size lies, and how far, held inside the axis.
struct Position {
  size_t below = 0;
  float share = 0;  // of the way to the next
};

// Finds positions without a search: sizes come in no order that branches could
// learn. Each eighth of an octave holds at most one size of the axis.
class AxisIndex final {
 public:
  explicit AxisIndex(const ProductTable::Axis& axis) {
    std::transform(axis.begin(), axis.end(), logs_.begin(),
                   [](double x) { return std::log2(x); });
    for (size_t i = 0; i < first_.size(); ++i) {
      const double start = static_cast<double>(i) / kBuckets;
      while (first_[i] < kSizes - 2 && logs_[first_[i] + 1] <= start) {
        ++first_[i];
      }
    }
  }

  Position Locate(double x) const {
    const double at = std::clamp(std::log2(x), logs_.front(), logs_.back());
    size_t below = first_[static_cast<size_t>(at * kBuckets)];
    below += below < kSizes - 2 && at >= logs_[below + 1] ? 1 : 0;
    return {below, static_cast<float>((at - logs_[below]) /
                                      (logs_[below + 1] - logs_[below]))};
  }

 private:
  static constexpr size_t kBuckets = 8;   // of an octave
  static constexpr size_t kOctaves = 16;  // up to the largest size

  ProductTable::Axis logs_ = {};
  std::array<uint8_t, kOctaves* kBuckets + 1> first_ = {};
};

float Between(float a, float b, float share) { return a + share * (b - a); }

}  // namespace

const ProductTable& ProductTable::Of(Architecture architecture) {
  static const ProductTable kOfAmpere(kAmpereTiles, kAmpereRates, kAmpere);
  static const ProductTable kOfHopper(kHopperTiles, kHopperRates, kHopper);
  switch (architecture) {
    case Architecture::kVolta:
    case Architecture::kAmpere:
    case Architecture::kAda:
      return kOfAmpere;
    default:
      return kOfHopper;
  }
}

ProductTable::ProductTable(const TileModel& model, const ProductRates& rates,
                           std::span<const int16_t> thousandths)
    : model_(model) {
  PRISM_CHECK(thousandths.size() == kSizes * kSizes * kSizes);
  log2_factors_.reserve(thousandths.size());
  for (const double m : kShort) {
    for (const double n : kLong) {
      for (const double k : kLong) {
        const double measured =
            1e-9 * std::exp2(1e-3 * thousandths[log2_factors_.size()]);
        const double modelled =
            TileModelSeconds(model, rates, {.m = m, .n = n, .k = k});
        log2_factors_.push_back(
            static_cast<float>(std::log2(measured / modelled)));
      }
    }
  }
}

double ProductTable::Factor(const MatrixProduct& product) const {
  static const AxisIndex kShortIndex(kShort);
  static const AxisIndex kLongIndex(kLong);
  // A batch fills the processors like one product with as many rows.
  const double rows = product.batch * product.m;
  const Position a = kShortIndex.Locate(std::min(rows, product.n));
  const Position b = kLongIndex.Locate(std::max(rows, product.n));
  const Position c = kLongIndex.Locate(product.k);
  const auto along_k = [&](size_t row, size_t column) {
    const float* const line =
        &log2_factors_[(row * kSizes + column) * kSizes + c.below];
    return Between(line[0], line[1], c.share);
  };
  const auto along_n = [&](size_t row) {
    return Between(along_k(row, b.below), along_k(row, b.below + 1), b.share);
  };
  return std::exp2(Between(along_n(a.below), along_n(a.below + 1), a.share));
}

}  // namespace prism::hardware
