#include "core/step/composition/score_curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/stats/normal.h"

namespace prism::step {
namespace {

using stats::Distribution;

constexpr size_t kRow = 128;  // a multiple of every vector's length

TailLaw SmoothLaw() {
  return TailLaw::Of(Distribution::MakeLognormal(10, 0.1));
}

// Two humps far apart.
TailLaw TwoHumps() {
  return TailLaw::Of(
      Distribution::MakeMixture({{0.7, Distribution::MakeNormal(5, 0.1)},
                                 {0.3, Distribution::MakeNormal(9, 0.1)}}));
}

std::vector<float> EvenScores() {
  std::vector<float> scores(kRow);
  for (size_t i = 0; i < kRow; ++i) {
    scores[i] = 6 * static_cast<float>(i) / (kRow - 1) - 3;
  }
  return scores;
}

TEST(ScoreCurveTest, DefaultIsTheConstantNothing) {
  const ScoreCurve curve;
  EXPECT_TRUE(curve.is_constant());
  EXPECT_EQ(curve.At(1.5), 0);
}

TEST(ScoreCurveTest, ConstantLawsNeedNoScores) {
  const ScoreCurve curve(TailLaw::Of(Distribution::MakeConstant(4)));
  EXPECT_TRUE(curve.is_constant());
  std::vector<double> factor(kRow, 0.5), clock(kRow, 1);
  curve.Add(nullptr, factor.data(), kRow, clock.data());
  for (double seconds : clock) EXPECT_DOUBLE_EQ(seconds, 3);
}

// A polynomial may be off by 2% of the deviation, a table by half a cell.
TEST(ScoreCurveTest, FollowsTheQuantiles) {
  const struct {
    TailLaw law;
    bool is_table;
  } cases[] = {{SmoothLaw(), false},
               {TwoHumps(), true},
               {TailLaw::Of(Distribution::MakeEmpirical({1, 2, 5})), true}};
  for (const auto& [law, is_table] : cases) {
    const ScoreCurve curve(law);
    EXPECT_EQ(curve.is_table(), is_table);
    for (double z : {-2.4, -1.1, -0.2, 0.3, 1.7, 2.6}) {
      const double below = law.Below(curve.At(z) + 0.02 * law.variance());
      const double under = law.Below(curve.At(z) - 0.02 * law.variance());
      EXPECT_GE(below, stats::NormalCdf(z - 0.03)) << z;
      EXPECT_LE(under, stats::NormalCdf(z + 0.03)) << z;
    }
  }
}

TEST(ScoreCurveTest, HasTheMeanOfItsLaw) {
  for (const TailLaw& law : {SmoothLaw(), TwoHumps()}) {
    const ScoreCurve curve(law);
    double mean = 0;
    constexpr int kSteps = 4000;
    for (int i = 0; i < kSteps; ++i) {
      mean += curve.At(stats::NormalQuantile((i + 0.5) / kSteps)) / kSteps;
    }
    EXPECT_NEAR(mean, law.mean(), 2e-3 * std::sqrt(law.variance()));
  }
}

TEST(ScoreCurveTest, AddsToClocksWhatItIsAtTheScores) {
  const std::vector<float> scores = EvenScores();
  for (const TailLaw& law : {SmoothLaw(), TwoHumps()}) {
    const ScoreCurve curve(law);
    std::vector<double> factor(kRow), clock(kRow, 100);
    for (size_t i = 0; i < kRow; ++i) factor[i] = 1 + 0.01 * i;
    curve.Add(scores.data(), factor.data(), kRow, clock.data());
    for (size_t i = 0; i < kRow; ++i) {
      const double at = curve.At(static_cast<double>(scores[i]));
      // Single precision of the deviation.
      EXPECT_NEAR(clock[i], 100 + factor[i] * at, 2e-5) << scores[i];
    }
  }
}

// Rare far values make the deviation large; the fit is judged by the body.
TEST(ScoreCurveTest, RareStallsDoNotBlurTheBody) {
  const TailLaw law = TailLaw::Of(
      Distribution::MakeMixture({{0.99, Distribution::MakeNormal(5, 0.1)},
                                 {0.01, Distribution::MakeNormal(90, 1)}}));
  const ScoreCurve curve(law);
  EXPECT_TRUE(curve.is_table());
  for (double z : {-1.0, 0.0, 1.0}) {
    const double p = stats::NormalCdf(z) / 0.99;
    EXPECT_NEAR(curve.At(z), 5 + 0.1 * stats::NormalQuantile(p), 0.003) << z;
  }
}

TEST(ScoreCurveTest, HoldsTheEndsOfItsTable) {
  const TailLaw law = TailLaw::Of(Distribution::MakeEmpirical({1, 2, 5}));
  const ScoreCurve curve(law);
  EXPECT_NEAR(curve.At(-9), 1, 1e-6);
  EXPECT_NEAR(curve.At(9), 5, 1e-6);
}

}  // namespace
}  // namespace prism::step
