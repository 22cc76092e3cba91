#include "core/hardware/tile_model.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace prism::hardware {
namespace {

// Sides a tile can have.
constexpr std::array kSides = {64.0, 128.0, 256.0};

struct Tile {
  size_t m;     // which of kSides
  size_t n;     // which of kSides
  size_t rate;  // which of TileModel::rates
};

constexpr std::array kTiles = {
    Tile{2, 1, 0}, Tile{1, 2, 0}, Tile{1, 1, 1}, Tile{1, 0, 2},
    Tile{0, 1, 2}, Tile{0, 0, 3}, Tile{2, 0, 4}, Tile{0, 2, 4},
};

// Round-up of a number from 0, without a branch that nothing predicts.
double RoundUp(double x) {
  const double whole = static_cast<double>(static_cast<int64_t>(x));
  return whole + static_cast<double>(whole < x);
}

// Tiles along a side of the result, for each of kSides.
std::array<double, kSides.size()> TilesAlong(double size) {
  std::array<double, kSides.size()> tiles;
  for (size_t i = 0; i < kSides.size(); ++i) {
    tiles[i] = RoundUp(size * (1 / kSides[i]));
  }
  return tiles;
}

// Elements of the result that processors are busy with, useful or not, in the
// time that the fastest tile takes for as many.
double ComputedArea(const TileModel& model, double processors,
                    const MatrixProduct& product) {
  const auto rows = TilesAlong(product.m);
  const auto columns = TilesAlong(product.n);
  double least = HUGE_VAL;
  for (const Tile& tile : kTiles) {
    const double tiles = product.batch * rows[tile.m] * columns[tile.n];
    const double whole = processors * RoundUp(tiles / processors);
    const double busy =
        std::max(processors, tiles + model.wave_share * (whole - tiles));
    const double area = kSides[tile.m] * kSides[tile.n];
    least = std::min(least, busy * area / model.rates[tile.rate]);
  }
  return least;
}

}  // namespace

double TileModelSeconds(const TileModel& model, const ProductRates& rates,
                        const MatrixProduct& product) {
  const double depth = product.k / rates.flops_per_second +
                       model.inner_overhead / rates.start_flops_per_second;
  const double arithmetic = 2 * depth *
                            ComputedArea(model, rates.processors, product) /
                            model.sustained;
  const double read = product.m * product.k + product.k * product.n;
  const double written = product.m * product.n;
  const double memory =
      product.batch *
      (read * rates.operand_bytes + written * rates.result_bytes) /
      (rates.bytes_per_second * model.memory_share);
  const double a = arithmetic * arithmetic;
  const double b = memory * memory;
  return model.launch_seconds + std::sqrt(std::sqrt(a * a + b * b));
}

}  // namespace prism::hardware
