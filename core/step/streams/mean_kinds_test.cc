#include "core/step/streams/mean_kinds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "core/step/monte_carlo.h"
#include "core/step/random_profile.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

constexpr uint64_t kKey = 7;

std::optional<KindTimes> MeanKinds(const StepGraph& graph, int64_t samples,
                                   int threads = 1) {
  base::ThreadExecutor executor(threads);
  const auto kinds = SimulateMeanKinds(graph, kKey, samples,
                                       base::UnlimitedBudget(), executor);
  EXPECT_TRUE(kinds.ok()) << kinds.status();
  return kinds.ok() ? *kinds : std::nullopt;
}

double MeanSeconds(const StepGraph& graph, int64_t samples) {
  const auto compiled = Compile(graph);
  const SimulationOptions options{.samples = samples, .random_key = kKey};
  base::InlineExecutor executor;
  const auto steps =
      SimulateSteps(*compiled, options, base::UnlimitedBudget(), executor);
  EXPECT_TRUE(steps.ok()) << steps.status();
  const auto& seconds = steps->step_seconds;
  return std::accumulate(seconds.begin(), seconds.end(), 0.0) /
         static_cast<double>(samples);
}

// One rank, two layers of 3 ms, the second's gather beside the first layer.
// Gathers take 2 or 8 ms.
StepProfile TwoGatheredLayers() {
  StepProfile profile;
  profile.forward = {
      ComputeSegment(stats::Distribution::MakeConstant(3), Sync::kNone, 2)};
  profile.forward[0].gather = stats::Distribution::MakeEmpirical({2, 8});
  profile.backward = {ComputeSegment(stats::Distribution::MakeConstant(0))};
  profile.prefetch = 1;
  return profile;
}

// The first gather is exposed, 5 ms on average, and what the second takes
// beyond the layer: 5 ms in half of the steps. The nominal step's 7 ms are
// less. Standard deviations 3 and 2.5 ms a step; 5 standard errors.
TEST(MeanKinds, CountsWhatVariabilityExposes) {
  const auto kinds = MeanKinds(BuildGraph(TwoGatheredLayers()), 256);
  ASSERT_TRUE(kinds.has_value());
  const double error = 1e-3 / std::sqrt(256.0);
  EXPECT_NEAR(kinds->by_kind.at("data_communication"), 7.5e-3,
              5 * std::hypot(3, 2.5) * error);
  EXPECT_NEAR(kinds->busy_by_kind.at("data_communication"), 10e-3,
              5 * std::hypot(3, 3) * error);
  EXPECT_NEAR(kinds->by_kind.at("compute"), 6e-3, 1e-15);
}

TEST(MeanKinds, AreOfTheFirstStepsAlone) {
  const StepGraph graph = BuildGraph(TwoGatheredLayers());
  EXPECT_EQ(MeanKinds(graph, 100000)->by_kind,
            MeanKinds(graph, kMostKindSamples)->by_kind);
  EXPECT_NE(MeanKinds(graph, 10)->by_kind, MeanKinds(graph, 11)->by_kind);
}

TEST(MeanKinds, DoNotExistWithoutStreams) {
  StepProfile profile = TwoGatheredLayers();
  profile.forward[0].gather.reset();
  EXPECT_EQ(MeanKinds(BuildGraph(profile), 10), std::nullopt);
}

TEST(MeanKinds, DoNotExistWhereTheBudgetEnds) {
  const StepGraph graph = BuildGraph(TwoGatheredLayers());
  const ScriptedBudget budget(
      {.per_look = absl::Milliseconds(1), .deadline = absl::Milliseconds(6)});
  base::InlineExecutor executor;
  const auto kinds = SimulateMeanKinds(graph, kKey, 256, budget, executor);
  ASSERT_TRUE(kinds.ok()) << kinds.status();
  EXPECT_EQ(*kinds, std::nullopt);
}

class MeanKindsOfProfiles : public testing::TestWithParam<uint64_t> {};

TEST_P(MeanKindsOfProfiles, SumToTheMeanOfTheSimulatedSteps) {
  constexpr int64_t kSamples = 40;
  const StepGraph graph = BuildGraph(RandomStreamProfile(GetParam()));
  const auto kinds = MeanKinds(graph, kSamples);
  ASSERT_EQ(kinds.has_value(), Compile(graph)->has_streams);
  if (!kinds.has_value()) return;
  double sum = 0;
  for (const auto& [kind, seconds] : kinds->by_kind) {
    EXPECT_GE(seconds, 0) << kind;
    sum += seconds;
  }
  const double expected = MeanSeconds(graph, kSamples);
  EXPECT_NEAR(sum, expected, 1e-12 * expected);
}

TEST_P(MeanKindsOfProfiles, DoNotDependOnThreads) {
  const StepGraph graph = BuildGraph(RandomStreamProfile(GetParam()));
  const auto one = MeanKinds(graph, 100);
  const auto three = MeanKinds(graph, 100, 3);
  ASSERT_EQ(one.has_value(), three.has_value());
  if (!one) return;
  EXPECT_EQ(one->by_kind, three->by_kind);
  EXPECT_EQ(one->busy_by_kind, three->busy_by_kind);
}

INSTANTIATE_TEST_SUITE_P(RandomProfiles, MeanKindsOfProfiles,
                         testing::Range<uint64_t>(0, 30));

}  // namespace
}  // namespace prism::step
