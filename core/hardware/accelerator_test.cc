#include "core/hardware/accelerator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace prism::hardware {
namespace {

TEST(CatalogueTest, HoldsTheFirstSlicesAccelerators) {
  for (const char* name :
       {"v100-16gb-sxm", "v100-32gb-sxm", "a100-40gb-sxm", "a100-80gb-sxm",
        "h100-80gb-sxm", "h200-141gb-sxm", "b200-180gb-sxm", "gb200-186gb"}) {
    ASSERT_NE(FindAccelerator(name), nullptr) << name;
    EXPECT_EQ(FindAccelerator(name)->name, name);
  }
}

TEST(CatalogueTest, UnknownNameIsNotFound) {
  EXPECT_EQ(FindAccelerator("a100"), nullptr);
  EXPECT_EQ(FindAccelerator(""), nullptr);
}

TEST(CatalogueTest, IsSortedByNameWithoutDuplicates) {
  const auto all = AcceleratorCatalogue();
  EXPECT_TRUE(std::is_sorted(
      all.begin(), all.end(),
      [](const auto& a, const auto& b) { return a.name <= b.name; }));
}

TEST(CatalogueTest, EveryEntryIsCompleteAndSaysItsSource) {
  for (const Accelerator& a : AcceleratorCatalogue()) {
    EXPECT_FALSE(a.source.empty()) << a.name;
    EXPECT_GT(a.fp32_flops, 0) << a.name;
    EXPECT_GE(a.fp16_flops, a.fp32_flops) << a.name;
    EXPECT_GT(a.memory_bytes, 1e10) << a.name;
    EXPECT_GT(a.memory_bytes_per_second, 5e11) << a.name;
    EXPECT_GT(a.processors, 1) << a.name;
    EXPECT_GT(a.node_link_bytes_per_second, a.network_bytes_per_second)
        << a.name;
    EXPECT_LE(a.sustained_fraction, 1) << a.name;
    EXPECT_LE(a.product_memory_fraction, 1) << a.name;
  }
}

TEST(CatalogueTest, NamesAreListedForMessages) {
  EXPECT_THAT(AcceleratorNames(), ::testing::StartsWith("a100-40gb-sxm, "));
  EXPECT_THAT(AcceleratorNames(), ::testing::HasSubstr(", h100-80gb-sxm"));
}

TEST(PeakTest, UsesTheFormatsOwnUnits) {
  const Peak peak =
      PeakOf(*FindAccelerator("h100-80gb-sxm"), NumberFormat::kFp8);
  EXPECT_EQ(peak.flops_per_second, 1979e12);
  EXPECT_EQ(peak.format, NumberFormat::kFp8);
}

TEST(PeakTest, FallsBackToAWiderFormat) {
  const Peak fp8 =
      PeakOf(*FindAccelerator("a100-80gb-sxm"), NumberFormat::kFp8);
  EXPECT_EQ(fp8.flops_per_second, 312e12);
  EXPECT_EQ(fp8.format, NumberFormat::kBf16);
  const Peak bf16 =
      PeakOf(*FindAccelerator("v100-32gb-sxm"), NumberFormat::kBf16);
  EXPECT_EQ(bf16.format, NumberFormat::kFp16);
  const Peak tf32 =
      PeakOf(*FindAccelerator("v100-32gb-sxm"), NumberFormat::kTf32);
  EXPECT_EQ(tf32.format, NumberFormat::kFp32);
}

}  // namespace
}  // namespace prism::hardware
