#include "core/hardware/operator_speeds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prism::hardware {
namespace {

using ::testing::HasSubstr;

OperatorUncertainty Of(const char* name, NumberFormat format) {
  return UncertaintyOf(*FindAccelerator(name), format);
}

TEST(UncertaintyTest, GrowsWithTheDistanceFromWhatWasMeasured) {
  const NumberFormat bf16 = NumberFormat::kBf16;
  double narrower = 0;
  for (const char* name : {"h100-80gb-sxm", "h200-141gb-sxm", "b200-180gb-sxm",
                           "l40s-48gb", "mi300x-192gb"}) {
    const double deviation = Of(name, bf16).relative_deviation;
    EXPECT_GT(deviation, narrower) << name;
    narrower = deviation;
  }
}

TEST(UncertaintyTest, GrowsWithFormatsNobodyMeasured) {
  const char* const b200 = "b200-180gb-sxm";
  EXPECT_GT(Of(b200, NumberFormat::kFp8).relative_deviation,
            Of(b200, NumberFormat::kBf16).relative_deviation);
  EXPECT_GT(Of(b200, NumberFormat::kFp4).relative_deviation,
            Of(b200, NumberFormat::kFp8).relative_deviation);
}

TEST(UncertaintyTest, CountsTheFormatThatIsComputedIn) {
  const char* const a100 = "a100-80gb-sxm";
  EXPECT_EQ(Of(a100, NumberFormat::kFp8).relative_deviation,
            Of(a100, NumberFormat::kBf16).relative_deviation);
}

TEST(UncertaintyTest, KnowsWhatWasMeasured) {
  EXPECT_TRUE(Of("a100-80gb-sxm", NumberFormat::kBf16).measured);
  EXPECT_TRUE(Of("h100-80gb-sxm", NumberFormat::kFp16).measured);
  EXPECT_FALSE(Of("h100-80gb-sxm", NumberFormat::kFp8).measured);
  EXPECT_FALSE(Of("a100-40gb-sxm", NumberFormat::kBf16).measured);
}

TEST(UncertaintyTest, SaysWhereNumbersComeFrom) {
  EXPECT_THAT(Of("a100-80gb-sxm", NumberFormat::kBf16).reason,
              HasSubstr("measured on it"));
  const std::string b200 = Of("b200-180gb-sxm", NumberFormat::kFp8).reason;
  EXPECT_THAT(b200, HasSubstr("h100-80gb-sxm"));
  EXPECT_THAT(b200, HasSubstr("fp8 by the ratio of peaks"));
  EXPECT_THAT(Of("v100-32gb-sxm", NumberFormat::kFp16).reason,
              HasSubstr("a100-80gb-sxm"));
}

TEST(SpeedsTest, SharesArePossible) {
  for (const ArchitectureSpeeds& speeds : DefaultArchitectureSpeeds()) {
    for (const double share :
         {speeds.memory_efficiency, speeds.row_efficiency,
          speeds.vendor_attention.forward, speeds.vendor_attention.backward,
          speeds.flash_attention2.forward, speeds.flash_attention2.backward}) {
      EXPECT_GT(share, 0);
      EXPECT_LE(share, 1);
    }
    for (const double product : speeds.product) {
      EXPECT_GT(product, 0.4);
      EXPECT_LE(product, 1);
    }
  }
}

}  // namespace
}  // namespace prism::hardware
