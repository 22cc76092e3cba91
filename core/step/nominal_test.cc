#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/step/random_profile.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

using stats::Distribution;
using testing::DoubleNear;
using testing::Pair;
using testing::UnorderedElementsAre;

NominalStep NominalOf(const StepGraph& graph) {
  auto nominal = SimulateNominal(graph);
  EXPECT_TRUE(nominal.ok()) << nominal.status();
  return nominal.ok() ? *nominal : NominalStep{};
}

TEST(NominalTest, KindsSumToTheSeconds) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const NominalStep step = NominalOf(BuildGraph(RandomProfile(seed)));
    double sum = 0;
    for (const auto& [kind, seconds] : step.by_kind) {
      EXPECT_GE(seconds, 0) << seed << " " << kind;
      sum += seconds;
    }
    EXPECT_NEAR(sum, step.seconds, 1e-12 * step.seconds) << seed;
  }
}

auto Near(double seconds) { return DoubleNear(seconds, 1e-12); }

TEST(NominalTest, KindsSayWhereTheTimeWent) {
  StepProfile profile;
  profile.forward = {{Distribution::MakeConstant(1),
                      Distribution::MakeConstant(20), Sync::kTensor, 2}};
  profile.backward = {{Distribution::MakeConstant(3),
                       Distribution::MakeConstant(400), Sync::kData, 1}};
  profile.gradient_sync = Distribution::MakeConstant(5000);
  profile.optimizer = Distribution::MakeConstant(60000);
  EXPECT_THAT(NominalOf(BuildGraph(profile)).by_kind,
              UnorderedElementsAre(Pair("compute", Near(0.005)),
                                   Pair("tensor_communication", Near(0.040)),
                                   Pair("data_communication", Near(5.4)),
                                   Pair("pipeline_communication", Near(0)),
                                   Pair("optimizer", Near(60)),
                                   Pair("bubble", Near(0))));
}

// Stage 0: forward 0 to 1; the backward arrives at 1 + h + 1 + 2 + h and ends
// 2 later. Of its wait h is the hop, the rest a bubble.
TEST(NominalTest, WaitForAnArrivalIsItsHopAndABubble) {
  StepGraph graph = EmptyGraph({1, 2, 1});
  graph.kinds = {"compute", "hop"};
  graph.hop_kind = 1;
  AddSegment(graph, kForwardProgram, {ConstantTask(graph, 1)});
  AddSegment(graph, kBackwardProgram, {ConstantTask(graph, 2)});
  graph.forward_hop = graph.backward_hop = {
      graph.add_distribution(Distribution::MakeConstant(0.5))};
  EXPECT_THAT(
      NominalOf(graph).by_kind,
      UnorderedElementsAre(Pair("compute", Near(3)), Pair("hop", Near(0.5)),
                           Pair("bubble", Near(3.5))));
  graph.hop_factor = {4};
  EXPECT_THAT(
      NominalOf(graph).by_kind,
      UnorderedElementsAre(Pair("compute", Near(3)), Pair("hop", Near(2)),
                           Pair("bubble", Near(5))));
}

TEST(NominalTest, MeansAreThoseStatedWithoutTheCutAtZero) {
  StepProfile profile = ConstantProfile(ScheduleKind::kGpipe, 1, 1, 1, 1, 1);
  profile.forward[0].compute = Distribution::MakeNormal(1, 5);
  EXPECT_NEAR(NominalOf(BuildGraph(profile)).seconds, 2e-3, 1e-15);
}

TEST(NominalTest, SharedFactorsCountAtTheirMeans) {
  StepProfile profile = ConstantProfile(ScheduleKind::kGpipe, 2, 1, 2, 1, 1);
  profile.compute_regime = Distribution::MakeGamma(2, 1);
  profile.microbatch_load = Distribution::MakeLognormal(3, 0.5);
  EXPECT_NEAR(NominalOf(BuildGraph(profile)).seconds, 6 * 6e-3, 1e-14);
}

TEST(NominalTest, FindsTheSlowReplicaAmongMany) {
  StepProfile profile = ConstantProfile(ScheduleKind::kGpipe, 1, 1, 1, 1, 1);
  profile.data = 5000;
  profile.slowdown = {{10, 1.5}, {4321, 3}};
  EXPECT_NEAR(NominalOf(BuildGraph(profile)).seconds, 6e-3, 1e-15);
}

TEST(NominalTest, EmptyStepTakesNoTime) {
  EXPECT_EQ(NominalOf(EmptyGraph({2, 3, 2}, 4)).seconds, 0);
}

}  // namespace
}  // namespace prism::step
