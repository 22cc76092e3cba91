#include "core/step/composition/lane_effect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/step/composition/test_models.h"

namespace prism::step {
namespace {

using stats::Distribution;

constexpr int kLanes = 4;
constexpr double kMean = 2, kSd = 0.1;

// Lanes that do `count` normal draws with a meeting after each.
std::unique_ptr<ModelOf> Lanes(Distribution compute, int64_t count = 1) {
  StepProfile profile = OneOperation(Distribution::MakeConstant(0));
  profile.tensor = kLanes;
  profile.forward = {{std::move(compute), {}, Sync::kTensor, count}};
  return BuildModel(profile);
}

LaneEffect EffectOn(const ModelOf& of, const std::vector<double>& factors) {
  std::vector<LaneEffect> effects(of.model.laws.size());
  LaneEffects(of.model.laws, kLanes).Compute(factors, effects);
  return effects[of.model.operations[0].law];
}

// Mean and variance of the maximum of factor * normal.
std::pair<double, double> BruteMaximum(const std::vector<double>& factors) {
  std::mt19937_64 generator(3);
  std::normal_distribution<double> normal(kMean, kSd);
  constexpr int kSamples = 400000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kSamples; ++i) {
    double highest = 0;
    for (const double f : factors) {
      highest = std::max(highest, f * normal(generator));
    }
    sum += highest - kMean;
    squares += (highest - kMean) * (highest - kMean);
  }
  const double mean = sum / kSamples;
  return {kMean + mean, squares / kSamples - mean * mean};
}

const std::vector<double> kCases[] = {{1, 1, 1, 1.05},
                                      {0.97, 1, 1.02, 1.03},
                                      {0.9, 0.95, 1, 1.2},
                                      {1.01, 1, 0.99, 1}};

TEST(LaneEffects, FollowTheMaximumOfUnequalLanes) {
  const auto of = Lanes(Distribution::MakeNormal(kMean, kSd));
  ASSERT_NE(of, nullptr);
  const auto [alike, alike_variance] = BruteMaximum({1, 1, 1, 1});
  for (const auto& factors : kCases) {
    const LaneEffect effect = EffectOn(*of, factors);
    const auto [mean, variance] = BruteMaximum(factors);
    EXPECT_NEAR(effect.mean * alike, mean, 0.01 * kSd);
    EXPECT_NEAR(effect.spread * std::sqrt(alike_variance), std::sqrt(variance),
                0.02 * kSd);
  }
}

TEST(LaneEffects, EqualLanesScale) {
  const auto of = Lanes(Distribution::MakeGamma(1, 0.4), 8);
  ASSERT_NE(of, nullptr);
  const LaneEffect effect = EffectOn(*of, {1.25, 1.25, 1.25, 1.25});
  EXPECT_EQ(effect.mean, 1.25);
  EXPECT_EQ(effect.spread, 1.25);
}

TEST(LaneEffects, NearlyEqualLanesAreNearlyThat) {
  const auto of = Lanes(Distribution::MakeNormal(kMean, kSd));
  ASSERT_NE(of, nullptr);
  const LaneEffect effect = EffectOn(*of, {1, 1, 1, 1 + 1e-6});
  EXPECT_NEAR(effect.mean, 1, 1e-6);
  EXPECT_NEAR(effect.spread, 1, 1e-4);
}

TEST(LaneEffects, OneSlowLaneDecidesAlone) {
  const auto of = Lanes(Distribution::MakeNormal(kMean, kSd));
  ASSERT_NE(of, nullptr);
  const OperationLaw& law = of->model.laws[of->model.operations[0].law];
  const LaneEffect effect = EffectOn(*of, {1, 1, 1, 3});
  EXPECT_NEAR(effect.mean * law.mean, 3 * kMean * 1e-3, 1e-5);
  EXPECT_NEAR(effect.spread * std::sqrt(law.variance), 3 * kSd * 1e-3, 5e-6);
}

TEST(LaneEffects, GuessIsCloseToTheMean) {
  const auto of = Lanes(Distribution::MakeNormal(kMean, kSd));
  ASSERT_NE(of, nullptr);
  const LaneEffects effects(of->model.laws, kLanes);
  for (const auto& factors : kCases) {
    EXPECT_NEAR(effects.GuessMean(factors), EffectOn(*of, factors).mean, 0.03);
  }
}

// Lanes of 1 or 2 and a lane half as slow again, of 1.5 or 3: between the modes
// of one lie those of the other. Chance 0.6 and 0.4.
TEST(LaneEffects, FollowEveryModeOfLanesOfTwo) {
  const auto of = Lanes(
      Distribution::MakeMixture({{0.6, Distribution::MakeNormal(1, 0.02)},
                                 {0.4, Distribution::MakeNormal(2, 0.02)}}));
  ASSERT_NE(of, nullptr);
  const OperationLaw& law = of->model.laws[of->model.operations[0].law];
  const double three_fast = 0.6 * 0.6 * 0.6;
  const double expected =
      0.4 * 3 + 0.6 * (three_fast * 1.5 + (1 - three_fast) * 2);
  EXPECT_NEAR(EffectOn(*of, {1, 1, 1, 1.5}).mean * law.mean, 1e-3 * expected,
              0.02e-3);
}

TEST(LaneEffects, ConstantLanesTakeTheSlowest) {
  const auto of = Lanes(Distribution::MakeConstant(2));
  ASSERT_NE(of, nullptr);
  EXPECT_NEAR(EffectOn(*of, {1, 1.5, 1, 0.5}).mean, 1.5, 1e-6);
}

}  // namespace
}  // namespace prism::step
