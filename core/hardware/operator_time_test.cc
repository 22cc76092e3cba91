#include "core/hardware/operator_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace prism::hardware {
namespace {

const Accelerator& A100() { return *FindAccelerator("a100-80gb-sxm"); }

// Of kernels by themselves, not in training.
OperatorSpeeds Alone() {
  OperatorSpeeds speeds;
  for (ArchitectureSpeeds& of : speeds.architectures) of.product.fill(1);
  return speeds;
}

double Seconds(double m, double n, double k) {
  return OperatorModel(A100(), Alone())
      .MatrixProductSeconds({.m = m, .n = n, .k = k}, NumberFormat::kBf16);
}

constexpr NumberFormat kFormats[] = {NumberFormat::kFp32, NumberFormat::kTf32,
                                     NumberFormat::kFp16, NumberFormat::kBf16,
                                     NumberFormat::kFp8,  NumberFormat::kFp4};

constexpr double kSizes[] = {1, 100, 2048, 5000, 12288, 100000};

// Calls check(product) for products large and small.
template <typename Check>
void ForProducts(const Check& check) {
  for (const double m : kSizes) {
    for (const double n : kSizes) {
      for (const double k : kSizes) {
        check(MatrixProduct{.m = m, .n = n, .k = k});
        check(MatrixProduct{.batch = 16, .m = m, .n = n, .k = k});
      }
    }
  }
}

TEST(MatrixProductTest, NeverFasterThanTheRoofline) {
  for (const Accelerator& accelerator : AcceleratorCatalogue()) {
    const OperatorModel model(accelerator);
    for (const NumberFormat format : kFormats) {
      const double width = BytesOf(PeakOf(accelerator, format).format);
      ForProducts([&](const MatrixProduct& product) {
        EXPECT_GE(model.MatrixProductSeconds(product, format),
                  model.FloorSeconds(product.flops(),
                                     width * product.elements(), format));
      });
    }
  }
}

// The same efficiencies on hardware that is better in one thing.
TEST(MatrixProductTest, FasterHardwareIsNeverSlower) {
  const OperatorModel base(A100());
  for (double Accelerator::*const rate :
       {&Accelerator::bf16_flops, &Accelerator::memory_bytes_per_second}) {
    Accelerator better = A100();
    better.*rate *= 1.5;
    const OperatorModel model(better);
    ForProducts([&](const MatrixProduct& product) {
      EXPECT_LE(model.MatrixProductSeconds(product, NumberFormat::kBf16),
                base.MatrixProductSeconds(product, NumberFormat::kBf16));
    });
  }
}

TEST(MatrixProductTest, NarrowerFormatsAreNeverSlowerButForTheirEfficiency) {
  const OperatorModel model(*FindAccelerator("b200-180gb-sxm"), Alone());
  ForProducts([&](const MatrixProduct& product) {
    const double bf16 =
        model.MatrixProductSeconds(product, NumberFormat::kBf16);
    const double fp8 = model.MatrixProductSeconds(product, NumberFormat::kFp8);
    EXPECT_LE(fp8, bf16);
    EXPECT_LE(model.MatrixProductSeconds(product, NumberFormat::kFp4), fp8);
  });
}

TEST(MatrixProductTest, EfficiencyOfTheFormatDividesTheTime) {
  OperatorSpeeds speeds;
  auto& hopper =
      speeds.architectures[static_cast<size_t>(Architecture::kHopper)];
  hopper.product[static_cast<size_t>(NumberFormat::kFp8)] = 0.5;
  hopper.product[static_cast<size_t>(NumberFormat::kBf16)] = 0.5;
  const Accelerator& h100 = *FindAccelerator("h100-80gb-sxm");
  const OperatorSpeeds plain = Alone();
  const MatrixProduct product = {.m = 4096, .n = 4096, .k = 4096};
  for (const NumberFormat format : {NumberFormat::kFp8, NumberFormat::kBf16}) {
    EXPECT_DOUBLE_EQ(
        OperatorModel(h100, speeds).MatrixProductSeconds(product, format),
        2 * OperatorModel(h100, plain).MatrixProductSeconds(product, format));
  }
}

TEST(MatrixProductTest, UnmeasuredRelativesFollowTheRatioOfPeaks) {
  const OperatorModel h100(*FindAccelerator("h100-80gb-sxm"), Alone());
  const OperatorModel b200(*FindAccelerator("b200-180gb-sxm"), Alone());
  const MatrixProduct product = {.m = 8192, .n = 16384, .k = 16384};
  EXPECT_NEAR(h100.MatrixProductSeconds(product, NumberFormat::kBf16) /
                  b200.MatrixProductSeconds(product, NumberFormat::kBf16),
              2250 / 989.5, 0.06);
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
  for (ArchitectureSpeeds& of : speeds.architectures) {
    of.memory_efficiency = 0.5;
  }
  const OperatorModel model(A100(), speeds);
  EXPECT_DOUBLE_EQ(model.MemorySeconds(2039e9, 3), 3e-6 + 2);
}

TEST(MemoryTest, LongRowsTakeLonger) {
  OperatorSpeeds speeds;
  for (ArchitectureSpeeds& of : speeds.architectures) {
    of.memory_efficiency = 0.8;
    of.row_efficiency = 0.4;
  }
  const OperatorModel model(A100(), speeds);
  const double plain = model.MemorySeconds(1e9, 0);
  EXPECT_DOUBLE_EQ(model.RowSeconds(1e9, 0, 2048), 2 * plain);
  EXPECT_DOUBLE_EQ(model.RowSeconds(1e9, 0, 8192), 4 * plain);
  EXPECT_DOUBLE_EQ(model.RowSeconds(1e9, 0, 64), plain);
}

// Of published figures: TFLOP/s of executed FLOPs in 16 bit, 16,384 tokens
// with 2,048 channels.
struct PublishedAttention {
  const char* accelerator;
  AttentionLibrary library;
  double sequence;
  double head_size;
  bool causal;
  bool backward;
  double teraflops;
};

constexpr auto kVendor = AttentionLibrary::kVendor;
constexpr auto kFlash2 = AttentionLibrary::kFlashAttention2;

// H100: FlashAttention-3, arXiv:2407.08608, figures 5 and 6 (vendor: cuDNN).
// A100: FlashAttention-2, arXiv:2307.08691, section 4.1, the best of each.
constexpr PublishedAttention kPublished[] = {
    {"h100-80gb-sxm", kVendor, 1024, 128, false, false, 574},
    {"h100-80gb-sxm", kVendor, 4096, 128, false, false, 609},
    {"h100-80gb-sxm", kVendor, 16384, 128, false, false, 595},
    {"h100-80gb-sxm", kVendor, 1024, 128, true, false, 410},
    {"h100-80gb-sxm", kVendor, 2048, 128, true, false, 484},
    {"h100-80gb-sxm", kVendor, 8192, 128, true, false, 529},
    {"h100-80gb-sxm", kVendor, 4096, 64, false, false, 408},
    {"h100-80gb-sxm", kVendor, 1024, 128, false, true, 408},
    {"h100-80gb-sxm", kVendor, 2048, 128, false, true, 465},
    {"h100-80gb-sxm", kVendor, 8192, 128, false, true, 518},
    {"h100-80gb-sxm", kVendor, 2048, 64, false, true, 395},
    {"h100-80gb-sxm", kFlash2, 2048, 128, true, false, 298},
    {"h100-80gb-sxm", kFlash2, 8192, 128, true, false, 333},
    {"h100-80gb-sxm", kFlash2, 4096, 128, false, true, 310},
    {"a100-80gb-sxm", kFlash2, 16384, 128, false, false, 227},
    {"a100-80gb-sxm", kFlash2, 16384, 128, false, true, 196},
};

TEST(AttentionTest, IsNearPublishedSpeeds) {
  for (const PublishedAttention& p : kPublished) {
    const OperatorModel model(*FindAccelerator(p.accelerator), {}, p.library);
    const AttentionKernel kernel = {.flops = 1e13,
                                    .sequence = p.sequence,
                                    .head_size = p.head_size,
                                    .causal = p.causal,
                                    .backward = p.backward};
    const double seconds = model.AttentionSeconds(kernel, NumberFormat::kFp16);
    EXPECT_NEAR(10 / seconds / p.teraflops, 1, 0.08)
        << p.accelerator << " " << p.sequence << " " << p.head_size << " "
        << p.backward;
  }
}

TEST(AttentionTest, EarlierKernelsAreSlower) {
  const AttentionKernel kernel = {.flops = 1e12, .sequence = 4096};
  double before = 0;
  for (const AttentionLibrary library :
       {kVendor, kFlash2, AttentionLibrary::kTriton}) {
    const OperatorModel h100(*FindAccelerator("h100-80gb-sxm"), {}, library);
    const double seconds = h100.AttentionSeconds(kernel, NumberFormat::kBf16);
    EXPECT_GT(seconds, before);
    before = seconds;
  }
}

TEST(PowerTest, ALowerLimitSlowsProductsAlone) {
  Accelerator h100 = *FindAccelerator("h100-80gb-sxm");
  OperatorSpeeds speeds;
  speeds.launch_seconds = 0;
  const OperatorModel full(h100, speeds);
  h100.maximum_watts /= 2;
  const OperatorModel half(h100, speeds);
  const MatrixProduct product = {.m = 8192, .n = 8192, .k = 8192};
  const double slower = std::pow(2, speeds.power_exponent);
  EXPECT_NEAR(half.MatrixProductSeconds(product, NumberFormat::kFp8) /
                  full.MatrixProductSeconds(product, NumberFormat::kFp8),
              slower, 1e-9);
  const AttentionKernel kernel = {.flops = 1e12, .sequence = 4096};
  EXPECT_EQ(half.AttentionSeconds(kernel, NumberFormat::kBf16),
            full.AttentionSeconds(kernel, NumberFormat::kBf16));
  EXPECT_EQ(half.MemorySeconds(1e9, 1), full.MemorySeconds(1e9, 1));
  EXPECT_EQ(half.FloorSeconds(1e15, 0, NumberFormat::kBf16),
            full.FloorSeconds(1e15, 0, NumberFormat::kBf16));
}

TEST(PowerTest, AHigherLimitThanMeasuredAddsNothing) {
  Accelerator h100 = *FindAccelerator("h100-80gb-sxm");
  const MatrixProduct product = {.m = 4096, .n = 4096, .k = 4096};
  const double seconds =
      OperatorModel(h100).MatrixProductSeconds(product, NumberFormat::kBf16);
  h100.maximum_watts = 1000;
  EXPECT_EQ(
      OperatorModel(h100).MatrixProductSeconds(product, NumberFormat::kBf16),
      seconds);
}

TEST(AttentionTest, ShortSequencesAndMasksAndNarrowHeadsAreLessEfficient) {
  const OperatorModel model(A100());
  const auto seconds = [&](AttentionKernel kernel) {
    kernel.flops = 1e12;
    return model.AttentionSeconds(kernel, NumberFormat::kBf16);
  };
  for (const bool backward : {false, true}) {
    const double best =
        seconds({.sequence = 4096, .causal = false, .backward = backward});
    EXPECT_GT(seconds({.sequence = 512, .causal = false, .backward = backward}),
              best);
    EXPECT_GT(seconds({.sequence = 4096, .backward = backward}), best);
    EXPECT_GT(seconds({.sequence = 4096,
                       .head_size = 64,
                       .causal = false,
                       .backward = backward}),
              best);
  }
  EXPECT_GE(seconds({.sequence = 2048, .backward = true}),
            seconds({.sequence = 2048}));
}

TEST(AttentionTest, EveryKernelHasItsStart) {
  OperatorSpeeds speeds;
  speeds.launch_seconds = 1;
  const OperatorModel model(A100(), speeds);
  const double one = model.AttentionSeconds({.flops = 1e12, .sequence = 1024},
                                            NumberFormat::kBf16);
  const double four = model.AttentionSeconds(
      {.flops = 1e12, .kernels = 4, .sequence = 1024}, NumberFormat::kBf16);
  EXPECT_NEAR(four - one, 3, 1e-9);
}

TEST(BytesTest, FollowTheFormat) {
  EXPECT_EQ(BytesOf(NumberFormat::kFp32), 4);
  EXPECT_EQ(BytesOf(NumberFormat::kTf32), 4);
  EXPECT_EQ(BytesOf(NumberFormat::kFp16), 2);
  EXPECT_EQ(BytesOf(NumberFormat::kBf16), 2);
  EXPECT_EQ(BytesOf(NumberFormat::kFp8), 1);
  EXPECT_EQ(BytesOf(NumberFormat::kFp4), 0.5);
}

}  // namespace
}  // namespace prism::hardware
