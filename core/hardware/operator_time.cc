#include "core/hardware/operator_time.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace prism::hardware {
namespace {

// Tile shapes of matrix product kernels, and the share of the sustained rate
// their inner loops reach: small tiles load more operands per product. Fitted
// with the other constants (docs/model/hardware.md).
struct Tile {
  double m;
  double n;
  double rate;
};

constexpr std::array kTiles = {
    Tile{256, 128, 1.00}, Tile{128, 256, 1.00}, Tile{128, 128, 0.87},
    Tile{128, 64, 0.80},  Tile{64, 128, 0.80},  Tile{64, 64, 0.70},
};

}  // namespace

double BytesOf(NumberFormat format) {
  switch (format) {
    case NumberFormat::kFp32:
    case NumberFormat::kTf32:
      return 4;
    case NumberFormat::kFp16:
    case NumberFormat::kBf16:
      return 2;
    case NumberFormat::kFp8:
      return 1;
  }
  return 4;
}

double OperatorModel::MatrixProductEfficiency(
    const MatrixProduct& product) const {
  double best = 0;
  for (const Tile& tile : kTiles) {
    const double tiles = product.batch * std::ceil(product.m / tile.m) *
                         std::ceil(product.n / tile.n);
    const double waves = std::ceil(tiles / accelerator_.processors);
    const double useful = product.batch * product.m * product.n /
                          (waves * accelerator_.processors * tile.m * tile.n);
    const double depth = product.k / (product.k + speeds_.inner_overhead);
    best = std::max(best, tile.rate * useful * depth);
  }
  return accelerator_.sustained_fraction * best;
}

double OperatorModel::MatrixProductSeconds(const MatrixProduct& product,
                                           NumberFormat format) const {
  const Peak peak = PeakOf(accelerator_, format);
  const double arithmetic =
      product.flops() /
      (peak.flops_per_second * MatrixProductEfficiency(product));
  const double memory = product.elements() * BytesOf(peak.format) /
                        (accelerator_.memory_bytes_per_second *
                         accelerator_.product_memory_fraction);
  return speeds_.launch_seconds + std::max(arithmetic, memory);
}

double OperatorModel::MemorySeconds(double bytes, double kernels) const {
  return kernels * speeds_.launch_seconds +
         bytes /
             (accelerator_.memory_bytes_per_second * speeds_.memory_efficiency);
}

double OperatorModel::AttentionSeconds(double flops, bool backward,
                                       NumberFormat format) const {
  const double efficiency = backward ? speeds_.attention_backward_efficiency
                                     : speeds_.attention_forward_efficiency;
  const Peak peak = PeakOf(accelerator_, format);
  return speeds_.launch_seconds + flops / (peak.flops_per_second * efficiency);
}

double OperatorModel::FloorSeconds(double flops, double bytes,
                                   NumberFormat format) const {
  return std::max(flops / PeakOf(accelerator_, format).flops_per_second,
                  bytes / accelerator_.memory_bytes_per_second);
}

}  // namespace prism::hardware
