// The engine against a simulation of single ranks and events, on random
// profiles.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "core/stats/sample_quantiles.h"
#include "core/step/random_profile.h"
#include "core/step/streams/event_simulator.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

class NominalStreamTest : public testing::TestWithParam<uint64_t> {};

TEST_P(NominalStreamTest, StepIsThatOfTheEvents) {
  const StepProfile profile = RandomStreamProfile(GetParam());
  const StepGraph graph = BuildGraph(profile);
  auto nominal = SimulateNominal(graph);
  ASSERT_TRUE(nominal.ok()) << nominal.status();
  const double expected = EventStep(profile, *OrderOf(profile), nullptr) * 1e-3;
  // Equal but for the rounding of sums in another order.
  EXPECT_NEAR(nominal->seconds, expected, 1e-12 * expected);
}

INSTANTIATE_TEST_SUITE_P(RandomProfiles, NominalStreamTest,
                         testing::Range<uint64_t>(0, 400));

class StreamQuantilesTest : public testing::TestWithParam<uint64_t> {};

// As in reference_test.cc: 7 quantiles of 24 profiles are within 5 combined
// standard errors with probability above 99.98%, and the seeds are fixed.
TEST_P(StreamQuantilesTest, AgreeWithThoseOfTheEvents) {
  const StepProfile profile = RandomStreamProfile(GetParam());
  const StepGraph graph = BuildGraph(profile);
  const PipelineOrder order = *OrderOf(profile);
  std::mt19937_64 random(GetParam());
  std::vector<double> steps(500);
  for (double& step : steps) {
    step = EventStep(profile, order, &random) * 1e-3;
  }
  std::sort(steps.begin(), steps.end());

  const StepTime time = SimulateSamples(graph, 10000, GetParam());
  for (size_t i = 0; i < kQuantileLevels.size(); ++i) {
    const double level = kQuantileLevels[i];
    const double expected = stats::SortedQuantile(steps, level);
    const double error = std::hypot(stats::SortedQuantileError(steps, level),
                                    time.standard_error_seconds[i]);
    EXPECT_NEAR(time.quantile_seconds[i], expected,
                5 * error + 1e-12 * expected)
        << "p" << 100 * level;
  }
}

INSTANTIATE_TEST_SUITE_P(RandomProfiles, StreamQuantilesTest,
                         testing::Range<uint64_t>(1000, 1024));

}  // namespace
}  // namespace prism::step
