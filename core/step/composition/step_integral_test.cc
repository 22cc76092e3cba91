#include "core/step/composition/step_integral.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/step/composition/closing_model.h"
#include "core/step/composition/test_models.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

using stats::Distribution;

// Every replica ends each of `stages` stages at `seconds`.
RegimeNode ConstantNode(double seconds, int stages = 1, double log_ratio = 0) {
  MaximumLaw law;
  law.seconds.assign(MaximumLaw::kNodes, seconds);
  law.offsets.assign(MaximumLaw::kNodes, {});
  return {log_ratio, std::vector<MaximumLaw>(stages, law), 0};
}

IntegratedStep Integrate(const StepGraph& graph, double seconds) {
  auto closings = BuildClosingModel(graph);
  EXPECT_TRUE(closings.has_value());
  if (!closings.has_value()) return {};
  const int stages = graph.grid.stages;
  return IntegrateStep({.graph = &graph,
                        .nodes = {ConstantNode(seconds, stages)},
                        .closings = *closings,
                        .factors = StepWideFactors(graph),
                        .needed = std::vector<bool>(stages, true),
                        .random_key = 1});
}

// One coordinate is stratified, so a quantile is off by a stratum or two:
// that over the density, which is at least q (1 - q) over the deviation.
double StratumError(size_t level, double deviation) {
  const double q = kQuantileLevels[level];
  return 2.0 / 8192 * deviation / (q * (1 - q));
}

StepProfile Closing(Distribution gradient_sync, Distribution optimizer) {
  StepProfile profile = OneOperation(Distribution::MakeConstant(0));
  profile.data = 4;
  profile.gradient_sync = std::move(gradient_sync);
  profile.optimizer = std::move(optimizer);
  return profile;
}

TEST(StepIntegral, ConstantsAddUp) {
  const StepGraph graph = BuildGraph(
      Closing(Distribution::MakeConstant(3), Distribution::MakeConstant(2)));
  const IntegratedStep step = Integrate(graph, 0.1);
  for (size_t q = 0; q < kQuantileLevels.size(); ++q) {
    EXPECT_NEAR(step.time.quantile_seconds[q], 0.105, 1e-12);
    EXPECT_NEAR(step.time.standard_error_seconds[q], 0, 1e-12);
  }
  EXPECT_NEAR(step.time.mean_seconds, 0.105, 1e-12);
  EXPECT_NEAR(step.time.standard_deviation_seconds, 0, 1e-9);
}

TEST(StepIntegral, ExponentialClosingGivesItsQuantiles) {
  const StepGraph graph =
      BuildGraph(Closing(Distribution::MakeShiftedExponential(1, 10), {}));
  const IntegratedStep step = Integrate(graph, 0.1);
  for (size_t q = 0; q < kQuantileLevels.size(); ++q) {
    EXPECT_NEAR(step.time.quantile_seconds[q],
                0.101 - 0.01 * std::log1p(-kQuantileLevels[q]),
                StratumError(q, 0.01));
  }
}

TEST(StepIntegral, LanesDrawTheirOwnCollectives) {
  StepProfile profile =
      Closing(Distribution::MakeShiftedExponential(0, 10), {});
  profile.tensor = 8;
  const IntegratedStep step = Integrate(BuildGraph(profile), 0.1);
  for (size_t q = 0; q < kQuantileLevels.size(); ++q) {
    EXPECT_NEAR(step.time.quantile_seconds[q],
                0.1 - 0.01 * std::log1p(-std::pow(kQuantileLevels[q], 1.0 / 8)),
                StratumError(q, 0.013));
  }
}

TEST(StepIntegral, StepWideFactorsMultiplyTheirClass) {
  StepProfile profile =
      Closing(Distribution::MakeConstant(50), Distribution::MakeConstant(20));
  profile.compute_regime = Distribution::MakeLognormal(1, 0.2);
  const IntegratedStep step = Integrate(BuildGraph(profile), 0.1);
  // Replicas and optimizer stretch, the gradient collective does not.
  for (size_t q = 0; q < kQuantileLevels.size(); ++q) {
    EXPECT_NEAR(
        step.time.quantile_seconds[q],
        0.05 + 0.12 * profile.compute_regime.Quantile(kQuantileLevels[q]),
        StratumError(q, 0.024));
  }
}

// A normal that is cut at 0 in one step of 40.
TEST(StepIntegral, FactorsOfNothingAreNumbers) {
  StepProfile profile = Closing(Distribution::MakeConstant(50), {});
  profile.compute_regime = Distribution::MakeNormal(1, 0.5);
  profile.network_regime = Distribution::MakeNormal(1, 0.5);
  const StepGraph graph = BuildGraph(profile);
  const IntegratedStep step = IntegrateStep(
      {.graph = &graph,
       .nodes = {ConstantNode(0.1, 1, -1), ConstantNode(0.1, 1, 1)},
       .closings = *BuildClosingModel(graph),
       .factors = StepWideFactors(graph),
       .needed = {true},
       .random_key = 1});
  for (const double seconds : step.time.quantile_seconds) {
    EXPECT_TRUE(std::isfinite(seconds) && seconds >= 0) << seconds;
  }
  EXPECT_NEAR(step.time.quantile_seconds[3], 0.15, 0.005);
}

TEST(StepIntegral, LatestStageDecides) {
  StepProfile profile = Closing(Distribution::MakeConstant(3), {});
  profile.pipeline = 2;
  const StepGraph graph = BuildGraph(profile);
  RegimeNode node = ConstantNode(0.1, 2);
  node.stages[1].seconds.assign(MaximumLaw::kNodes, 0.2);
  const auto closings = BuildClosingModel(graph);
  ASSERT_TRUE(closings.has_value());
  IntegralRequest request{.graph = &graph,
                          .nodes = {node},
                          .closings = *closings,
                          .factors = {},
                          .needed = {true, true},
                          .random_key = 1};
  EXPECT_NEAR(IntegrateStep(request).time.mean_seconds, 0.203, 1e-12);
  request.needed[1] = false;
  EXPECT_NEAR(IntegrateStep(request).time.mean_seconds, 0.103, 1e-12);
}

TEST(StepIntegral, ErrorsOfTheMaximaAreCarriedOver) {
  const StepGraph graph = BuildGraph(Closing({}, {}));
  RegimeNode node = ConstantNode(0.1);
  // Two parts of 16 that are 0.004 sqrt(16 15 / 2) off.
  node.stages[0].offsets.assign(
      MaximumLaw::kNodes, {0.004 * std::sqrt(120), -0.004 * std::sqrt(120)});
  const IntegratedStep step =
      IntegrateStep({.graph = &graph,
                     .nodes = {node},
                     .closings = *BuildClosingModel(graph),
                     .factors = {},
                     .needed = {true},
                     .random_key = 1});
  EXPECT_NEAR(step.replica_error_seconds[3], 0.004, 1e-9);
  EXPECT_NEAR(step.time.standard_error_seconds[3], 0.004, 1e-9);
}

// A smooth convex function of the ratio, as of two paths of which the later
// counts. Chords miss it by up to 0.046.
TEST(RefineNodes, FollowsASmoothCurve) {
  const auto seconds = [](double ratio) {
    return std::sqrt(4 + (ratio - 1) * (ratio - 1)) + ratio;
  };
  std::vector<RegimeNode> nodes;
  for (double x = -1; x <= 1; x += 0.5) {
    nodes.push_back(ConstantNode(seconds(std::exp(x)), 1, x));
  }
  const std::vector<RegimeNode> refined = RefineNodes(nodes, {true});
  ASSERT_EQ(refined.size(), 17u);
  for (size_t i = 0; i < refined.size(); ++i) {
    EXPECT_NEAR(refined[i].stages[0].At(0.0),
                seconds(std::exp(refined[i].log_ratio)), 0.012)
        << i;
    if (i == 0) continue;
    EXPECT_GT(refined[i].log_ratio, refined[i - 1].log_ratio);
  }
}

TEST(RefineNodes, LeavesTwoAsTheyAre) {
  const std::vector<RegimeNode> nodes = {ConstantNode(1, 1, -1),
                                         ConstantNode(2, 1, 1)};
  EXPECT_EQ(RefineNodes(nodes, {true}).size(), 2u);
}

TEST(ClosingModel, CollectiveThenLongestOptimizer) {
  const auto closings = BuildClosingModel(
      BuildGraph(Closing(Distribution::MakeNormal(3, 0.1),
                         Distribution::MakeShiftedExponential(1, 2))));
  ASSERT_TRUE(closings.has_value());
  const auto& tasks = (*closings)[0].tasks;
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(tasks[0].factor_class, FactorClass::kNetwork);
  EXPECT_NEAR(tasks[0].of_lane(0).At(0), 3e-3, 1e-12);
  EXPECT_EQ(tasks[1].factor_class, FactorClass::kOptimizer);
  // The median of the maximum of four.
  EXPECT_NEAR(tasks[1].of_lane(0).At(0),
              1e-3 - 2e-3 * std::log1p(-std::pow(0.5, 0.25)), 1e-5);
}

TEST(ClosingModel, SlowestRankDecidesAConstantOptimizer) {
  StepProfile profile = Closing({}, Distribution::MakeConstant(2));
  profile.slowdown = {{1, 1.5}, {2, 3}};
  const auto closings = BuildClosingModel(BuildGraph(profile));
  ASSERT_TRUE(closings.has_value());
  EXPECT_NEAR((*closings)[0].mean, 6e-3, 1e-12);
}

TEST(ClosingModel, UnequalWorkBeforeTheReplicasMeetIsLeftToTheReference) {
  StepGraph graph = BuildGraph(
      Closing(Distribution::MakeConstant(3), Distribution::MakeNormal(2, 1)));
  for (Segment& segment : graph.programs[graph.closing[0]].segments) {
    std::reverse(segment.tasks.begin(), segment.tasks.end());
  }
  std::reverse(graph.programs[graph.closing[0]].segments.begin(),
               graph.programs[graph.closing[0]].segments.end());
  EXPECT_FALSE(BuildClosingModel(graph).has_value());
}

}  // namespace
}  // namespace prism::step
