#include "core/hardware/operator_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace prism::hardware {
namespace {

const Accelerator& A100() { return *FindAccelerator("a100-80gb-sxm"); }

double Seconds(double m, double n, double k) {
  return OperatorModel(A100()).MatrixProductSeconds({.m = m, .n = n, .k = k},
                                                    NumberFormat::kBf16);
}

TEST(MatrixProductTest, NeverFasterThanTheRoofline) {
  const OperatorModel model(A100());
  for (const double m : {1.0, 100.0, 2048.0, 30000.0}) {
    for (const double n : {16.0, 1000.0, 12288.0}) {
      for (const double k : {8.0, 128.0, 6144.0}) {
        const MatrixProduct product = {.m = m, .n = n, .k = k};
        EXPECT_GE(model.MatrixProductSeconds(product, NumberFormat::kBf16),
                  model.FloorSeconds(product.flops(), 2 * product.elements(),
                                     NumberFormat::kBf16));
      }
    }
  }
}

TEST(MatrixProductTest, LargerIsNeverFaster) {
  constexpr double kRounding = 1 + 1e-12;
  for (double m = 64; m < 8192; m += 64) {
    EXPECT_LE(Seconds(m, 4096, 4096), kRounding * Seconds(m + 64, 4096, 4096));
    EXPECT_LE(Seconds(4096, 4096, m), kRounding * Seconds(4096, 4096, m + 64));
  }
}

TEST(MatrixProductTest, OneTileTooManyCostsAWave) {
  // 108 processors: 12 x 9 tiles of 256 x 128 are one wave, 13 x 9 are two
  // (smaller tiles soften the step).
  const double one_wave = Seconds(12 * 256, 9 * 128, 8192);
  const double over = Seconds(13 * 256, 9 * 128, 8192);
  EXPECT_GT(over / one_wave, 1.25);
}

TEST(MatrixProductTest, ShallowProductsAreLessEfficient) {
  const OperatorModel model(A100());
  const double deep =
      model.MatrixProductEfficiency({.m = 8192, .n = 8192, .k = 8192});
  const double shallow =
      model.MatrixProductEfficiency({.m = 8192, .n = 8192, .k = 128});
  EXPECT_GT(deep, 2 * shallow);
  EXPECT_LT(deep, A100().sustained_fraction);
}

TEST(MatrixProductTest, BatchesFillTheProcessorsTogether) {
  const OperatorModel model(A100());
  const double alone =
      model.MatrixProductEfficiency({.batch = 1, .m = 512, .n = 512, .k = 512});
  const double many = model.MatrixProductEfficiency(
      {.batch = 64, .m = 512, .n = 512, .k = 512});
  EXPECT_GT(many, 2 * alone);
}

struct MeasuredProduct {
  double m;
  double n;
  double k;
  double milliseconds;
};

// Of NVIDIA's AIConfigurator (bf16, A100 SXM 80 GB): shapes of transformer
// layers.
TEST(MatrixProductTest, IsNearMeasuredProductsOfA100) {
  const std::vector<MeasuredProduct> measured = {
      {8192, 65536, 4096, 15.287540011935764},
      {8192, 65536, 6144, 22.679799397786457},
      {8192, 65536, 7168, 26.24729410807292},
  };
  for (const MeasuredProduct& product : measured) {
    EXPECT_NEAR(
        1e3 * Seconds(product.m, product.n, product.k) / product.milliseconds,
        1, 0.05);
  }
}

TEST(MemoryTest, TimeIsLaunchesAndBytes) {
  OperatorSpeeds speeds;
  speeds.launch_seconds = 1e-6;
  speeds.memory_efficiency = 0.5;
  const OperatorModel model(A100(), speeds);
  EXPECT_DOUBLE_EQ(model.MemorySeconds(2039e9, 3), 3e-6 + 2);
}

TEST(AttentionTest, BackwardIsNoMoreEfficientThanForward) {
  const OperatorModel model(A100());
  EXPECT_GE(model.AttentionSeconds(1e12, true, NumberFormat::kBf16),
            model.AttentionSeconds(1e12, false, NumberFormat::kBf16));
}

TEST(BytesTest, FollowTheFormat) {
  EXPECT_EQ(BytesOf(NumberFormat::kFp32), 4);
  EXPECT_EQ(BytesOf(NumberFormat::kTf32), 4);
  EXPECT_EQ(BytesOf(NumberFormat::kFp16), 2);
  EXPECT_EQ(BytesOf(NumberFormat::kBf16), 2);
  EXPECT_EQ(BytesOf(NumberFormat::kFp8), 1);
}

}  // namespace
}  // namespace prism::hardware
