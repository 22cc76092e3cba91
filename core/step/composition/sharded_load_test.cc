#include "core/step/composition/sharded_load.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/step/step_profile.h"

namespace prism::step {
namespace {

using stats::Distribution;

constexpr int kRows = 256;

StepGraph Graph(int replicas, Distribution compute, double slow = 1) {
  StepProfile profile;
  profile.data = replicas;
  profile.forward = {{std::move(compute), Distribution(), Sync::kData, 1}};
  profile.backward = {
      {Distribution::MakeConstant(0), Distribution(), Sync::kData, 1}};
  if (slow != 1) profile.slowdown = {{0, slow}};
  return BuildGraph(profile);
}

// Moments of the forward barrier for each row of a pool.
std::vector<BarrierMoments> ForwardMoments(const StepGraph& graph,
                                           const Distribution& load) {
  TailLawCache cache(graph);
  const Stretch stretch{
      .meetings = {},
      .work = {{graph.programs[0].segments[0].tasks[0].distribution,
                FactorClass::kCompute, 1}}};
  const auto law = BuildStretchLaw(
      graph, stretch,
      {.factor = {1, 1, 1}, .load = &load, .needs_copula = false}, cache,
      base::UnlimitedBudget());
  EXPECT_TRUE(law.has_value());
  const ReplicaLoads loads(graph, load);
  const LoadPool pool(loads, 7, kRows);
  return pool.Moments(*law, 0, base::UnlimitedBudget());
}

double MeanOf(const std::vector<BarrierMoments>& rows) {
  double sum = 0;
  for (const auto& row : rows) sum += row.mean;
  return sum / static_cast<double>(rows.size());
}

// Constant work ends with the largest load, whose mean over n unit
// exponentials is the n-th harmonic number. The strata leave an error of about
// the deviation over the number of rows.
TEST(LoadPoolTest, LargestLoadHasTheMeanOfAMaximum) {
  const auto load = Distribution::MakeShiftedExponential(0, 1);
  for (int n : {1, 4, 100, 4096}) {
    double harmonic = 0;
    for (int k = 1; k <= n; ++k) harmonic += 1.0 / k;
    const auto rows =
        ForwardMoments(Graph(n, Distribution::MakeConstant(1)), load);
    EXPECT_NEAR(MeanOf(rows) * 1e3, harmonic, 0.03) << n;
  }
}

TEST(LoadPoolTest, EqualLoadsLeaveThePlainMaximum) {
  const auto compute = Distribution::MakeLognormal(1, 0.2);
  for (int n : {2, 40, 1000}) {
    const auto rows =
        ForwardMoments(Graph(n, compute), Distribution::MakeLognormal(1, 1e-6));
    const TailLaw latest = TailLaw::Of(compute).MaximumOf(n);
    const double deviation = std::sqrt(latest.variance());
    EXPECT_NEAR(rows[0].mean * 1e3, latest.mean(), 0.02 * deviation) << n;
    EXPECT_NEAR(std::sqrt(rows[0].variance) * 1e3, deviation, 0.03 * deviation)
        << n;
  }
}

// Of many replicas that take one time more often than not, one does.
TEST(LoadPoolTest, ValuesThatManyTakeAreNotSpread) {
  const auto compute =
      Distribution::MakeMixture({{0.44, Distribution::MakeGamma(5, 0.1)},
                                 {0.56, Distribution::MakeConstant(10)}});
  const auto rows =
      ForwardMoments(Graph(60, compute), Distribution::MakeLognormal(1, 1e-6));
  EXPECT_NEAR(rows[0].mean * 1e3, 10, 0.005);
}

TEST(LoadPoolTest, ASlowReplicaIsDrawnEvenIfItsLoadIsSmall) {
  const auto rows =
      ForwardMoments(Graph(2000, Distribution::MakeConstant(1), 3),
                     Distribution::MakeLognormal(1, 0.01));
  EXPECT_NEAR(MeanOf(rows) * 1e3, 3, 0.01);
}

TEST(LoadPoolTest, RowsRiseWithTheLargestLoad) {
  const auto rows = ForwardMoments(Graph(64, Distribution::MakeConstant(1)),
                                   Distribution::MakeLognormal(1, 0.2));
  for (size_t i = 1; i < rows.size(); ++i) {
    EXPECT_GE(rows[i].mean, rows[i - 1].mean) << i;
  }
}

}  // namespace
}  // namespace prism::step
