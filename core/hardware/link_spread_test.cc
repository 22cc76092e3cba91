#include "core/hardware/link_spread.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "core/hardware/measured_table.h"

namespace prism::hardware {
namespace {

TEST(LinkSpreadTest, NothingScattersWhereNothingTakesTime) {
  EXPECT_EQ(SpreadOf({}).core_cv, 0);
  EXPECT_EQ(SpreadOf({}).stall_probability, 0);
}

TEST(LinkSpreadTest, WaitsScatterMoreThanTransfers) {
  EXPECT_GT(SpreadOf({1e-3, 1e-3}).core_cv, 2 * SpreadOf({1e-3, 0}).core_cv);
}

TEST(LinkSpreadTest, StallsGrowWithTheNodesUpToAlways) {
  const auto probability = [](double nodes) {
    return SpreadOf({1e-3, 1e-4, StallsOf(nodes)}).stall_probability;
  };
  EXPECT_DOUBLE_EQ(probability(16), 4 * probability(4));
  EXPECT_EQ(probability(1e6), 1);
}

// Where a run shifts between two protocols, the shift is all that is seen.
bool LevelShifts(const MeasuredRow& row) {
  const int64_t bytes = Count(row, "bytes");
  return Count(row, "nodes") > 4 &&
         (bytes == 16384 || bytes == 1 << 20 || bytes == 8 << 20);
}

// Calls use(row, spread) for the algorithm with the lower median.
template <typename Use>
void ForMeasured(const Use& use) {
  std::map<std::pair<int64_t, int64_t>, MeasuredRow> faster;
  for (const MeasuredRow& row : ReadMeasured("spread.csv")) {
    MeasuredRow& best = faster[{Count(row, "nodes"), Count(row, "bytes")}];
    if (best.empty() || Number(row, "median_us") < Number(best, "median_us")) {
      best = row;
    }
  }
  const std::map<std::string, Fabric> fabrics = MeasuredFabrics();
  const Fabric& fabric = fabrics.at("marenostrum5-h100");
  for (const auto& [key, row] : faster) {
    if (LevelShifts(row)) continue;
    const auto& [nodes, bytes] = key;
    const GroupShape shape = {.members = 4 * nodes, .in_unit = {4, 4 * nodes}};
    const LinkTime time = fabric.CollectiveTime(
        CollectiveKind::kAllReduce, static_cast<double>(bytes), shape);
    use(row, SpreadOf(time));
  }
}

TEST(LinkSpreadTest, CoreIsNearThatOfMeasuredCollectives) {
  double log_ratios = 0;
  int count = 0;
  ForMeasured([&](const MeasuredRow& row, const LinkSpread& spread) {
    const double ratio = spread.core_cv / Number(row, "core_cv");
    log_ratios += std::abs(std::log(ratio));
    ++count;
  });
  EXPECT_EQ(count, 21);
  // A factor of two, on average: runs of one size differ by ten.
  EXPECT_LT(log_ratios / count, std::log(2.0));
}

TEST(LinkSpreadTest, StallsAreAsManyAndAsLongAsMeasured) {
  // Longer collectives hide a stall below the 1.5 medians that are counted.
  constexpr double kShort = 200e-6;
  for (const int64_t nodes : {4, 16, 32}) {
    double expected = 0, measured = 0, seconds = 0;
    ForMeasured([&](const MeasuredRow& row, const LinkSpread& spread) {
      if (Count(row, "nodes") != nodes ||
          1e-6 * Number(row, "median_us") > kShort) {
        return;
      }
      const double stalls = Number(row, "stalls") * Number(row, "iterations");
      measured += stalls;
      seconds += stalls * 1e-6 * Number(row, "stall_us");
      expected += spread.stall_probability * Number(row, "iterations");
    });
    EXPECT_GT(measured, 40);
    EXPECT_NEAR(std::log(expected / measured), 0, std::log(2.0)) << nodes;
    EXPECT_NEAR(std::log(130e-6 * measured / seconds), 0, std::log(4.0))
        << nodes;
  }
}

}  // namespace
}  // namespace prism::hardware
