#include "core/step/composition/sharded_barrier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/step/step_profile.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

using stats::Distribution;

// Replicas that draw `law` once, with the given factors on rank 0, 1, ...
StepGraph GraphOf(const Distribution& law, int replicas, int lanes,
                  const std::vector<double>& slowdown) {
  StepProfile profile;
  profile.data = replicas;
  profile.tensor = lanes;
  profile.forward = {{law, Distribution(), Sync::kData, 1}};
  profile.backward = {{law, Distribution(), Sync::kData, 1}};
  for (size_t rank = 0; rank < slowdown.size(); ++rank) {
    profile.slowdown.emplace_back(static_cast<int64_t>(rank), slowdown[rank]);
  }
  return BuildGraph(profile);
}

Stretch OneDraw(const StepGraph& graph) {
  return {.meetings = {},
          .work = {{graph.programs[0].segments[0].tasks[0].distribution,
                    FactorClass::kCompute, 1}}};
}

// Lanes meet twice: a draw, a meeting, a draw, a meeting, a draw.
Stretch TwoMeetings(const StepGraph& graph) {
  Stretch stretch = OneDraw(graph);
  const int nothing = graph.programs[0].segments[0].tasks[1].distribution;
  stretch.meetings = {{stretch.work, nothing, 1}, {stretch.work, nothing, 1}};
  return stretch;
}

std::optional<StretchLaw> LawOf(const StepGraph& graph, const Stretch& stretch,
                                bool one_by_one = false) {
  TailLawCache cache(graph);
  return BuildStretchLaw(graph, stretch,
                         {.factor = {1, 1, 1},
                          .load = nullptr,
                          .needs_copula = true,
                          .one_by_one = one_by_one},
                         cache, base::UnlimitedBudget());
}

// P(all are done by x): the product, for few replicas and for many in bins.
class UnlikeReplicasTest : public testing::TestWithParam<int> {};

TEST_P(UnlikeReplicasTest, BarrierHasTheProductOfTheDistributionFunctions) {
  const int replicas = GetParam();
  std::vector<double> slowdown;
  for (int r = 0; r < replicas; ++r) {
    slowdown.push_back(1 + 0.1 * r / replicas);
  }
  slowdown[0] = 1.2;
  for (const Distribution& law :
       {Distribution::MakeLognormal(10, 0.05),
        Distribution::MakeShiftedExponential(8, 2),
        Distribution::MakeMixture({{0.999, Distribution::MakeNormal(10, 0.2)},
                                   {0.001, Distribution::MakeNormal(90, 3)}}),
        Distribution::MakeEmpirical({8, 9, 9.5, 10, 10.5, 12})}) {
    const StepGraph graph = GraphOf(law, replicas, 1, slowdown);
    const auto stretch = LawOf(graph, OneDraw(graph));
    ASSERT_TRUE(stretch.has_value());
    const TailLaw own = TailLaw::Of(law);
    for (double ms = 9; ms < 20; ms += 0.4375) {
      double hazard = 0;
      for (double factor : slowdown) hazard += own.Hazard(ms / factor);
      const double exact = std::exp(-hazard);
      // Within a thousandth of the way to the right or left.
      EXPECT_GE(stretch->barrier_of(0).Below(1.001e-3 * ms), exact - 0.01)
          << ms;
      EXPECT_LE(stretch->barrier_of(0).Below(0.999e-3 * ms), exact + 0.01)
          << ms;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Replicas, UnlikeReplicasTest,
                         testing::Values(2, 16, 100, 1000));

// Of normals: the latest of two has mean m + s / sqrt(pi).
TEST(BuildStretchLawTest, LanesThatMeetWaitForTheLatest) {
  const StepGraph graph = GraphOf(Distribution::MakeNormal(10, 0.5), 2, 2, {});
  const auto law = LawOf(graph, TwoMeetings(graph));
  ASSERT_TRUE(law.has_value());
  EXPECT_TRUE(law->meets);
  // A draw before, the latest of two between, a draw after.
  EXPECT_NEAR(law->own.mean(), 30e-3 + 0.5e-3 / std::sqrt(std::acos(-1.0)),
              2e-6);
  ASSERT_NE(law->latest, nullptr);
  EXPECT_GT(law->latest->mean(), law->barrier_of(0).mean());
}

// Speeds that are all the same act like a factor; by tables of unlike ones.
TEST(BuildStretchLawTest, EqualSpeedsAreAFactor) {
  const Distribution distribution = Distribution::MakeLognormal(10, 0.1);
  const StepGraph alike = GraphOf(distribution, 4, 2, {});
  const StepGraph slow =
      GraphOf(distribution, 4, 2, std::vector<double>(8, 1.5));
  const auto one = LawOf(alike, TwoMeetings(alike));
  const auto other = LawOf(slow, TwoMeetings(slow));
  ASSERT_TRUE(one.has_value() && other.has_value());
  EXPECT_NEAR(other->barrier_of(3).mean(), 1.5 * one->barrier_of(0).mean(),
              2e-5);
  EXPECT_NEAR(other->latest->mean(), 1.5 * one->latest->mean(), 2e-5);
}

// Between meetings a replica waits for its slow lane; for atoms and humps too.
TEST(BuildStretchLawTest, UnlikeLanesWaitForTheProductOfTheirLaws) {
  for (const Distribution& distribution :
       {Distribution::MakeLognormal(10, 0.1),
        Distribution::MakeEmpirical({8, 9, 10, 13}),
        Distribution::MakeMixture(
            {{0.6, Distribution::MakeNormal(8, 0.1)},
             {0.4, Distribution::MakeNormal(13, 0.1)}})}) {
    const std::vector<double> slowdown = {1, 1.1, 1, 1};
    const StepGraph graph = GraphOf(distribution, 2, 2, slowdown);
    const auto law = LawOf(graph, TwoMeetings(graph), true);
    ASSERT_TRUE(law.has_value() && law->work != nullptr);
    const TailLaw own = TailLaw::Of(distribution).Affine(1e-3, 0);
    double mean = 0;  // of the latest of both lanes
    constexpr int kSteps = 20000;
    for (int i = 0; i < kSteps; ++i) {
      const double x = 0.02 * (i + 0.5) / kSteps;
      mean += 0.02 / kSteps * (1 - own.Below(x) * own.Below(x / 1.1));
    }
    const auto& [scale, offset] = law->work->latest_of[0];
    const double deviation = std::sqrt(own.variance());
    EXPECT_NEAR(scale * law->work->latest.mean() + offset, mean,
                0.015 * deviation);
  }
}

TEST(BuildStretchLawTest, DrawnOneByOneKeepsRareStallsInTheLaws) {
  const Distribution distribution =
      Distribution::MakeMixture({{0.99, Distribution::MakeNormal(10, 0.1)},
                                 {0.01, Distribution::MakeNormal(50, 1)}});
  const StepGraph graph = GraphOf(distribution, 4, 2, {});
  const auto apart = LawOf(graph, TwoMeetings(graph));
  const auto within = LawOf(graph, TwoMeetings(graph), true);
  ASSERT_TRUE(apart.has_value() && within.has_value());
  EXPECT_FALSE(apart->stalls.empty());
  EXPECT_TRUE(within->stalls.empty());
  EXPECT_NEAR(within->work->first_compute.mean(), 10.4e-3, 1e-5);
  EXPECT_NEAR(apart->own.mean(), 30e-3, 2e-4);
  // Four replicas of two lanes and six draws, 1% each.
  EXPECT_NEAR(apart->stalls_together, 4 * 0.06 * 0.06 / 2, 1e-6);
  EXPECT_EQ(within->stalls_together, 0);
}

TEST(BuildStretchLawTest, StopsWhenTheBudgetIsOver) {
  const StepGraph graph = GraphOf(Distribution::MakeLognormal(10, 0.1), 64, 2,
                                  std::vector<double>(128, 1.5));
  TailLawCache cache(graph);
  for (int64_t looks : {0, 3, 6}) {
    const ScriptedBudget budget({.looks_until_cancelled = looks});
    EXPECT_FALSE(BuildStretchLaw(graph, TwoMeetings(graph), {}, cache, budget));
  }
}

TEST(CorrelationOfLatestTest, FindsTheCorrelationOfItsMean) {
  const TailLaw normal = TailLaw::Of(Distribution::MakeNormal(20, 1));
  // The larger of two with correlation r: mean + sqrt((1 - r) / pi).
  for (double rho : {0.1, 0.5, 0.8}) {
    const double mean = 20 + std::sqrt((1 - rho) / std::acos(-1.0));
    EXPECT_NEAR(CorrelationOfLatest(normal, 2, mean), rho, 0.03) << rho;
  }
}

}  // namespace
}  // namespace prism::step
