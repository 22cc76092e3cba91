// Tile model: seconds of a matrix product by how a library cuts it up.
//
// The result is cut into tiles; a processor takes a tile, whole, and the
// processors take tiles in waves. A tile costs a start besides its inner loop,
// as if the inner dimension were longer. The best tile shape counts. Kernels
// that balance the last wave hide a part of it (all but `wave_share`). Traffic
// to memory runs beside:
//
//   seconds = launch + (arithmetic^4 + memory^4)^(1/4)
#ifndef PRISM_CORE_HARDWARE_TILE_MODEL_H_
#define PRISM_CORE_HARDWARE_TILE_MODEL_H_

#include <array>

namespace prism::hardware {

// `batch` products of an m x k with a k x n matrix. All at least 1.
struct MatrixProduct {
  double batch = 1;
  double m = 1;
  double n = 1;
  double k = 1;

  double flops() const { return 2 * batch * m * n * k; }
  // Elements read once and written once.
  double elements() const { return batch * (m * k + k * n + m * n); }
};

// Of one generation of processors and its library; fitted by
// tests/tools/product_table to its measured products.
struct TileModel {
  double sustained = 1;       // share of peak an endless product reaches
  double inner_overhead = 0;  // a tile's start, in elements of k
  double memory_share = 1;    // of the memory's rate that products reach
  double launch_seconds = 0;  // of an empty product
  double wave_share = 1;      // of an unfilled wave that costs; 0: none
  // Speed of the inner loop of each of kTiles: small tiles load more operands
  // per product.
  std::array<double, 5> rates = {1, 1, 1, 1, 1};
};

// What an accelerator does at best in the product's number format.
struct ProductRates {
  double flops_per_second = 1;
  // At which tiles start: the rate of 16-bit products, or its own if slower.
  double start_flops_per_second = 1;
  double bytes_per_second = 1;
  double processors = 1;
  double operand_bytes = 2;  // of an element read
  double result_bytes = 2;   // of an element written
};

// Never longer where a rate per second is higher.
double TileModelSeconds(const TileModel& model, const ProductRates& rates,
                        const MatrixProduct& product);

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_TILE_MODEL_H_
