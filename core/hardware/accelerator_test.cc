#include "core/hardware/accelerator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace prism::hardware {
namespace {

TEST(CatalogueTest, HoldsWhatClustersAreBuiltOf) {
  for (const char* name :
       {"v100-16gb-sxm",  "v100-32gb-sxm", "a100-40gb-sxm",  "a100-80gb-sxm",
        "h100-80gb-sxm",  "h100-96gb-sxm", "h200-141gb-sxm", "b200-180gb-sxm",
        "b300-270gb-sxm", "gb200-186gb",   "gb300-279gb",    "l40s-48gb",
        "rtx-4090-24gb",  "mi250x-128gb",  "mi300x-192gb",   "mi325x-256gb",
        "tpu-v4",         "tpu-v5e",       "tpu-v5p",        "gaudi2-96gb",
        "gaudi3-128gb",   "trainium2-96gb"}) {
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
    EXPECT_GT(a.source.size(), 15u) << a.name;
    EXPECT_GT(a.fp32_flops, 0) << a.name;
    EXPECT_GE(std::max(a.fp16_flops, a.bf16_flops), 1e14) << a.name;
    EXPECT_GT(a.memory_bytes, 1e10) << a.name;
    EXPECT_GT(a.memory_bytes_per_second, 5e11) << a.name;
    EXPECT_GT(a.processors, 1) << a.name;
    EXPECT_GT(a.network_bytes_per_second, 0) << a.name;
    EXPECT_GT(a.node_link_bytes_per_second, a.network_bytes_per_second)
        << a.name;
  }
}

TEST(CatalogueTest, NarrowerFormatsAreNoSlower) {
  using enum NumberFormat;
  for (const Accelerator& a : AcceleratorCatalogue()) {
    double wider = 0;
    for (const NumberFormat format : {kFp32, kTf32, kBf16, kFp8, kFp4}) {
      const double peak = PeakOf(a, format).flops_per_second;
      EXPECT_GE(peak, wider) << a.name << " " << NumberFormatName(format);
      wider = peak;
    }
    if (a.fp16_flops > 0 && a.bf16_flops > 0) {
      EXPECT_EQ(a.fp16_flops, a.bf16_flops) << a.name;
    }
  }
}

TEST(CatalogueTest, PublishedPowerIsThatOfOneModule) {
  int published = 0;
  for (const Accelerator& a : AcceleratorCatalogue()) {
    if (a.maximum_watts == 0) continue;
    ++published;
    EXPECT_GT(a.idle_watts, 0) << a.name;
    EXPECT_LT(a.idle_watts, a.maximum_watts / 2) << a.name;
    EXPECT_LT(a.maximum_watts, 1500) << a.name;
  }
  EXPECT_GE(published, 18);
}

double Ratio(const char* a, const char* b, double Accelerator::*member) {
  return FindAccelerator(a)->*member / (FindAccelerator(b)->*member);
}

TEST(CatalogueTest, FamiliesDifferAsTheyAreKnownTo) {
  EXPECT_EQ(Ratio("h200-141gb-sxm", "h100-80gb-sxm", &Accelerator::fp8_flops),
            1);
  EXPECT_NEAR(Ratio("h200-141gb-sxm", "h100-80gb-sxm",
                    &Accelerator::memory_bytes_per_second),
              1.43, 0.01);
  EXPECT_NEAR(
      Ratio("b300-270gb-sxm", "b200-180gb-sxm", &Accelerator::fp4_flops), 1.5,
      0.01);
  EXPECT_NEAR(Ratio("gb300-279gb", "gb200-186gb", &Accelerator::fp4_flops), 1.5,
              0.01);
  EXPECT_NEAR(Ratio("h100-80gb-sxm", "a100-80gb-sxm", &Accelerator::bf16_flops),
              3.17, 0.01);
  EXPECT_EQ(Ratio("mi325x-256gb", "mi300x-192gb", &Accelerator::bf16_flops), 1);
  EXPECT_NEAR(Ratio("tpu-v5p", "tpu-v4", &Accelerator::bf16_flops), 1.67, 0.01);
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
  const Peak fp4 =
      PeakOf(*FindAccelerator("h100-80gb-sxm"), NumberFormat::kFp4);
  EXPECT_EQ(fp4.format, NumberFormat::kFp8);
  const Peak fp16 = PeakOf(*FindAccelerator("tpu-v4"), NumberFormat::kFp16);
  EXPECT_EQ(fp16.format, NumberFormat::kBf16);
  const Peak tf32 =
      PeakOf(*FindAccelerator("v100-32gb-sxm"), NumberFormat::kTf32);
  EXPECT_EQ(tf32.format, NumberFormat::kFp32);
}

TEST(NamesTest, AreThoseOfDocuments) {
  EXPECT_EQ(NumberFormatName(NumberFormat::kFp4), "fp4");
  EXPECT_EQ(ArchitectureName(Architecture::kTrainium), "trainium");
  EXPECT_EQ(ArchitectureName(Architecture::kVolta), "volta");
}

}  // namespace
}  // namespace prism::hardware
