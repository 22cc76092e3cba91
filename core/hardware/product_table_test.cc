#include "core/hardware/product_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace prism::hardware {
namespace {

using Axis = ProductTable::Axis;

constexpr size_t kPoints =
    ProductTable::kSizes * ProductTable::kSizes * ProductTable::kSizes;
// Size of a nanosecond and of a microsecond, in thousandths of log2.
constexpr int16_t kMicrosecond = 9966;

TEST(ProductTableTest, GivesMeasuredTimesAtMeasuredShapes) {
  std::vector<int16_t> thousandths(kPoints, kMicrosecond);
  thousandths[0] = 2 * kMicrosecond;  // m = 1, n = 32, k = 32
  const TileModel model;
  const ProductRates rates;
  const ProductTable table(model, rates, thousandths);
  EXPECT_NEAR(table.Seconds(rates, {.m = 1, .n = 32, .k = 32}), 1e-3, 1e-6);
  EXPECT_NEAR(table.Seconds(rates, {.m = 2, .n = 32, .k = 32}), 1e-6, 1e-9);
  EXPECT_NEAR(table.Seconds(rates, {.m = 8192, .n = 65536, .k = 65536}), 1e-6,
              1e-9);
}

// A table in which measured and modelled differ by 2^(x + y + z), with x, y, z
// the logarithms of the shape.
ProductTable Sloped() {
  const TileModel model;
  const ProductRates rates = {.flops_per_second = 1e15,
                              .start_flops_per_second = 1e15,
                              .bytes_per_second = 1e15};
  std::vector<int16_t> thousandths;
  for (const double m : ProductTable::kShort) {
    for (const double n : ProductTable::kLong) {
      for (const double k : ProductTable::kLong) {
        const double seconds =
            TileModelSeconds(model, rates, {.m = m, .n = n, .k = k});
        const double factor = std::pow(m * n * k, 0.25);
        thousandths.push_back(static_cast<int16_t>(
            std::lround(1e3 * std::log2(1e9 * seconds * factor))));
      }
    }
  }
  return ProductTable(model, rates, thousandths);
}

TEST(ProductTableTest, InterpolatesInLogarithms) {
  const ProductTable table = Sloped();
  const MatrixProduct product = {.m = 700, .n = 3300, .k = 9000};
  EXPECT_NEAR(
      table.Factor(product) / std::pow(product.m * product.n * product.k, 0.25),
      1, 2e-3);
}

TEST(ProductTableTest, AProductAndItsTransposeAreOne) {
  const ProductTable table = Sloped();
  EXPECT_EQ(table.Factor({.m = 700, .n = 3300, .k = 90}),
            table.Factor({.m = 3300, .n = 700, .k = 90}));
}

TEST(ProductTableTest, BeyondTheEdgeItsFactorHolds) {
  const ProductTable table = Sloped();
  EXPECT_EQ(table.Factor({.m = 1e5, .n = 1e6, .k = 1e6}),
            table.Factor({.m = 8192, .n = 65536, .k = 65536}));
  EXPECT_EQ(table.Factor({.m = 1, .n = 2, .k = 1}),
            table.Factor({.m = 1, .n = 32, .k = 32}));
}

TEST(ProductTableTest, ABatchIsLookedUpAsRows) {
  const ProductTable table = Sloped();
  EXPECT_EQ(table.Factor({.batch = 7, .m = 100, .n = 3300, .k = 90}),
            table.Factor({.m = 700, .n = 3300, .k = 90}));
}

// Shapes on the grid of measured ones, by index.
double LogFactor(const ProductTable& table, size_t a, size_t b, size_t c) {
  return std::log(table.Factor({.m = ProductTable::kShort[a],
                                .n = ProductTable::kLong[b],
                                .k = ProductTable::kLong[c]}));
}

enum class Side { kShort, kLong, kInner };

// Mean of |ln(predicted / measured)| of products with all sizes from `least`,
// each predicted from its neighbours along one side as if its own line of the
// table were missing. Only shapes that are looked up as they are.
double ErrorWithoutOwnLine(const ProductTable& table, Side side, double least) {
  double sum = 0;
  int count = 0;
  const auto at = [&](std::array<size_t, 3> i, int step) {
    i[static_cast<size_t>(side)] += static_cast<size_t>(step);
    return LogFactor(table, i[0], i[1], i[2]);
  };
  const Axis& axis =
      side == Side::kShort ? ProductTable::kShort : ProductTable::kLong;
  for (size_t a = 1; a + 1 < ProductTable::kSizes; ++a) {
    for (size_t b = 1; b + 1 < ProductTable::kSizes; ++b) {
      for (size_t c = 1; c + 1 < ProductTable::kSizes; ++c) {
        if (ProductTable::kShort[a + 1] > ProductTable::kLong[b - 1]) continue;
        if (ProductTable::kShort[a] < least) continue;
        if (ProductTable::kLong[c] < least) continue;
        const std::array<size_t, 3> i = {a, b, c};
        const size_t own = i[static_cast<size_t>(side)];
        const double share = std::log(axis[own] / axis[own - 1]) /
                             std::log(axis[own + 1] / axis[own - 1]);
        const double predicted = (1 - share) * at(i, -1) + share * at(i, 1);
        sum += std::abs(predicted - at(i, 0));
        ++count;
      }
    }
  }
  return sum / count;
}

struct LeftOut {
  const char* name;
  Architecture architecture;
  Side side;
  double below;  // of the mean error
};

class LeftOutTest : public ::testing::TestWithParam<LeftOut> {};

// Shapes of training: all sizes at least 512.
TEST_P(LeftOutTest, LinesOfTheGridArePredictedFromTheirNeighbours) {
  const LeftOut& p = GetParam();
  const double error =
      ErrorWithoutOwnLine(ProductTable::Of(p.architecture), p.side, 512);
  RecordProperty("mean_error", std::to_string(error));
  EXPECT_LT(error, p.below);
  EXPECT_GT(error, 0.005);  // it would be 0 if nothing were left out
}

INSTANTIATE_TEST_SUITE_P(
    Measured, LeftOutTest,
    ::testing::Values(
        LeftOut{"AmpereShort", Architecture::kAmpere, Side::kShort, 0.075},
        LeftOut{"AmpereLong", Architecture::kAmpere, Side::kLong, 0.065},
        LeftOut{"AmpereInner", Architecture::kAmpere, Side::kInner, 0.025},
        LeftOut{"HopperShort", Architecture::kHopper, Side::kShort, 0.055},
        LeftOut{"HopperLong", Architecture::kHopper, Side::kLong, 0.055},
        LeftOut{"HopperInner", Architecture::kHopper, Side::kInner, 0.04}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ProductTableTest, UnmeasuredArchitecturesTakeTheNearest) {
  EXPECT_EQ(&ProductTable::Of(Architecture::kVolta),
            &ProductTable::Of(Architecture::kAmpere));
  EXPECT_EQ(&ProductTable::Of(Architecture::kBlackwell),
            &ProductTable::Of(Architecture::kHopper));
  EXPECT_NE(&ProductTable::Of(Architecture::kAmpere),
            &ProductTable::Of(Architecture::kHopper));
}

}  // namespace
}  // namespace prism::hardware
