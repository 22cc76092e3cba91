// ProductTable: measured seconds of a generation's matrix products, as factors
// on its tile model.
//
// Between measured shapes the logarithm of the factor is interpolated, linear
// in the logarithms of m, n and k, so that what the tile model knows of tiles
// and waves still shows there; beyond them the factor of the edge holds. A
// product and its transpose are one. Immutable; safe to share between threads.
#ifndef PRISM_CORE_HARDWARE_PRODUCT_TABLE_H_
#define PRISM_CORE_HARDWARE_PRODUCT_TABLE_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/hardware/accelerator.h"
#include "core/hardware/tile_model.h"

namespace prism::hardware {

class ProductTable final {
 public:
  static constexpr size_t kSizes = 21;
  using Axis = std::array<double, kSizes>;
  // Of measured results' shorter and longer side, and of k.
  static constexpr Axis kShort = {1,   2,   4,   8,    16,   32,   48,
                                  64,  80,  96,  128,  160,  192,  256,
                                  384, 512, 768, 1024, 2048, 4096, 8192};
  static constexpr Axis kLong = {32,   64,   128,  256,   512,   768,   1024,
                                 1536, 2048, 2560, 3072,  3584,  4096,  5120,
                                 6144, 7168, 8192, 10240, 12288, 16384, 65536};

  // The table of the measured generation nearest to `architecture`. Lives for
  // ever.
  static const ProductTable& Of(Architecture architecture);

  // `thousandths`: of the logarithm to base 2 of measured nanoseconds, by m, n
  // and k, k fastest, on an accelerator of `rates`.
  ProductTable(const TileModel& model, const ProductRates& rates,
               std::span<const int16_t> thousandths);

  // Measured over modelled time, interpolated.
  double Factor(const MatrixProduct& product) const;

  // Seconds on an accelerator of `rates`: the tile model times the factor.
  double Seconds(const ProductRates& rates,
                 const MatrixProduct& product) const {
    return Factor(product) * TileModelSeconds(model_, rates, product);
  }

 private:
  TileModel model_;
  std::vector<float> log2_factors_;
};

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_PRODUCT_TABLE_H_
