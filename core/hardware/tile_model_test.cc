#include "core/hardware/tile_model.h"

#include <gtest/gtest.h>

#include <vector>

namespace prism::hardware {
namespace {

// 100 processors of 1 GFLOP/s together; memory and launch cost nothing.
constexpr ProductRates kRates = {.flops_per_second = 1e9,
                                 .start_flops_per_second = 1e9,
                                 .bytes_per_second = 1e30,
                                 .processors = 100};

double Efficiency(const TileModel& model, const MatrixProduct& product,
                  const ProductRates& rates = kRates) {
  return product.flops() / rates.flops_per_second /
         TileModelSeconds(model, rates, product);
}

TEST(TileModelTest, WholeWavesOfWholeTilesReachPeak) {
  const TileModel plain;
  EXPECT_DOUBLE_EQ(Efficiency(plain, {.m = 2560, .n = 1280, .k = 64}), 1);
  EXPECT_DOUBLE_EQ(Efficiency(plain, {.m = 2560, .n = 2560, .k = 64}), 1);
}

TEST(TileModelTest, OneTileTooManyCostsAWave) {
  TileModel large_tiles_alone;
  large_tiles_alone.rates = {1, 0.01, 0.01, 0.01, 0.01};
  const MatrixProduct over = {.m = 2816, .n = 1280, .k = 64};  // 110 tiles
  EXPECT_DOUBLE_EQ(Efficiency(large_tiles_alone, over), 110.0 / 200);
  large_tiles_alone.wave_share = 0.5;
  EXPECT_DOUBLE_EQ(Efficiency(large_tiles_alone, over), 110.0 / 155);
}

TEST(TileModelTest, PartsOfATileAreComputedWhole) {
  TileModel model;
  model.wave_share = 0;
  const double whole = Efficiency(model, {.m = 12800, .n = 12800, .k = 64});
  const double part = Efficiency(model, {.m = 12801, .n = 12800, .k = 64});
  EXPECT_DOUBLE_EQ(whole, 1);
  EXPECT_LT(part, 1);
  EXPECT_GT(part, 0.98);
}

TEST(TileModelTest, AStartMakesShallowProductsLessEfficient) {
  TileModel model;
  model.inner_overhead = 64;
  EXPECT_DOUBLE_EQ(Efficiency(model, {.m = 2560, .n = 1280, .k = 64}), 0.5);
  // Twice the rate halves the inner loop, not the start.
  ProductRates narrow = kRates;
  narrow.flops_per_second = 2e9;
  EXPECT_DOUBLE_EQ(Efficiency(model, {.m = 2560, .n = 1280, .k = 64}, narrow),
                   1.0 / 3);
}

TEST(TileModelTest, BatchesFillTheProcessorsTogether) {
  const TileModel model;
  const MatrixProduct one = {.m = 256, .n = 128, .k = 64};
  MatrixProduct many = one;
  many.batch = 100;
  EXPECT_DOUBLE_EQ(Efficiency(model, many), 1);
  EXPECT_LT(Efficiency(model, one), 0.1);
}

TEST(TileModelTest, MemoryBoundProductsTakeTheirTraffic) {
  TileModel model;
  model.memory_share = 0.5;
  ProductRates rates = kRates;
  rates.flops_per_second = 1e30;
  rates.start_flops_per_second = 1e30;
  rates.bytes_per_second = 1000;
  rates.operand_bytes = 1;
  rates.result_bytes = 4;
  // 10 x 20 and 20 x 30 elements of 1 byte, 10 x 30 of 4: 2000 bytes.
  EXPECT_DOUBLE_EQ(TileModelSeconds(model, rates, {.m = 10, .n = 30, .k = 20}),
                   4);
}

TEST(TileModelTest, LaunchIsPaidByTheSmallest) {
  TileModel model;
  model.launch_seconds = 3;
  EXPECT_NEAR(TileModelSeconds(model, kRates, {}), 3, 0.1);
}

TEST(TileModelTest, HigherRatesAreNeverSlower) {
  TileModel model;
  model.inner_overhead = 200;
  model.memory_share = 0.7;
  model.launch_seconds = 1e-6;
  const std::vector<double ProductRates::*> rates = {
      &ProductRates::flops_per_second, &ProductRates::start_flops_per_second,
      &ProductRates::bytes_per_second};
  ProductRates base = kRates;
  base.bytes_per_second = 1e7;
  for (const double m : {1.0, 300.0, 5000.0}) {
    for (const double k : {16.0, 1000.0, 60000.0}) {
      const MatrixProduct product = {.m = m, .n = 700, .k = k};
      for (const auto rate : rates) {
        ProductRates faster = base;
        faster.*rate *= 1.3;
        EXPECT_LE(TileModelSeconds(model, faster, product),
                  TileModelSeconds(model, base, product));
      }
    }
  }
}

}  // namespace
}  // namespace prism::hardware
