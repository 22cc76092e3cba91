#include "core/explain/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/step/simulate.h"
#include "core/step/step_profile.h"
#include "core/step/test_support.h"

namespace prism::explain {
namespace {

using stats::Distribution;
using step::StepGraph;
using step::StepProfile;
using testing::ElementsAre;
using testing::HasSubstr;

step::ProfileSegment Segment(const std::string& name, double compute_ms,
                             double collective_ms = 0) {
  step::ProfileSegment segment =
      step::ComputeSegment(Distribution::MakeNormal(compute_ms, 0.1));
  segment.sync = step::Sync::kTensor;
  segment.collective = Distribution::MakeConstant(collective_ms);
  segment.name = name;
  return segment;
}

StepProfile Profile() {
  StepProfile profile;
  profile.data = 2;
  profile.pipeline = 3;
  profile.tensor = 2;
  profile.microbatches = 4;
  profile.forward = {Segment("attention", 2, 0.5), Segment("", 3)};
  profile.backward = {Segment("", 8, 1)};
  profile.transfer = Distribution::MakeConstant(0.3);
  profile.gradient_sync = Distribution::MakeConstant(5);
  profile.optimizer = Distribution::MakeConstant(1);
  return profile;
}

std::vector<std::string> Names(const Sources& sources) {
  std::vector<std::string> names;
  for (const Source& source : sources.list) names.push_back(source.name);
  return names;
}

const Source& SourceNamed(const Sources& sources, const std::string& name) {
  for (const Source& source : sources.list) {
    if (source.name == name) return source;
  }
  ADD_FAILURE() << name;
  return sources.list.front();
}

double Nominal(const StepGraph& graph) {
  const auto nominal = step::SimulateNominal(graph);
  EXPECT_TRUE(nominal.ok()) << nominal.status();
  return nominal->seconds;
}

TEST(FindSources, NamesKindsByPartAndSegment) {
  StepProfile profile = Profile();
  profile.microbatch_load = Distribution::MakeNormal(1, 0.1);
  const Sources sources = FindSources(BuildGraph(profile));
  EXPECT_THAT(
      Names(sources),
      ElementsAre("forward.attention", "forward.attention.tensor_communication",
                  "forward.1", "backward", "backward.tensor_communication",
                  "gradient_sync", "optimizer", "transfer", "microbatch_load",
                  "stage 0", "stage 1", "stage 2"));
  EXPECT_EQ(SourceNamed(sources, "optimizer").by, By::kKind);
  EXPECT_EQ(SourceNamed(sources, "transfer").by, By::kCollective);
}

TEST(FindSources, NumbersSegmentsThatHaveNoName) {
  StepProfile profile = Profile();
  profile.forward = {Segment("", 2), Segment("", 3)};
  profile.pipeline = 1;
  const Sources sources = FindSources(BuildGraph(profile));
  EXPECT_EQ(sources.list[0].name, "forward.0");
  EXPECT_EQ(sources.list[1].name, "forward.1");
}

TEST(FindSources, RanksAreThoseSlowerThanTheMedian) {
  StepProfile profile = Profile();
  profile.slowdown = {{4, 1.3}, {7, 0.9}};
  const Sources sources = FindSources(BuildGraph(profile));
  const Source& rank = SourceNamed(sources, "rank 4");
  EXPECT_THAT(rank.ranks, ElementsAre(4));
  EXPECT_DOUBLE_EQ(rank.excess, 1.3);
  EXPECT_EQ(sources.list.back().name, "rank 4");
  EXPECT_EQ(sources.left_out, 0);
}

TEST(FindSources, KeepsTheSlowestOfManyRanksAndCountsTheRest) {
  StepProfile profile = Profile();
  profile.data = 64;
  for (int64_t rank = 0; rank < 40; ++rank) {
    profile.slowdown.push_back({rank, 1.1 + 0.01 * (rank % 20)});
  }
  const Sources sources = FindSources(BuildGraph(profile));
  int ranks = 0;
  for (const Source& source : sources.list) {
    if (source.by != By::kRank) continue;
    ++ranks;
    EXPECT_GE(source.excess, 1.1 + 0.01 * 12 - 1e-9);
  }
  EXPECT_EQ(ranks, kMostRankGroups);
  EXPECT_EQ(sources.left_out, 40 - kMostRankGroups);
}

TEST(FindSources, GroupsOfRanksAreOneSourceEach) {
  StepProfile profile = Profile();
  profile.slowdown = {{0, 1.2}, {1, 1.2}};
  const StepGraph graph = BuildGraph(profile);
  const Sources sources =
      FindSources(graph, {{"node 0", {0, 1}}, {"node 1", {2, 3}}});
  EXPECT_EQ(sources.list.back().name, "node 0");
  EXPECT_THAT(WithTypical(graph, sources.list.back()).slowdown,
              testing::Each(1.0));
}

TEST(FindSource, ANameStandsForAllBelowIt) {
  const StepGraph graph = BuildGraph(Profile());
  const auto attention = FindSource(graph, {}, "forward.attention");
  ASSERT_TRUE(attention.ok());
  EXPECT_EQ(attention->tasks.size(), 2);
  const auto forward = FindSource(graph, {}, "forward");
  ASSERT_TRUE(forward.ok());
  EXPECT_EQ(forward->tasks.size(), 3);
  EXPECT_EQ(FindSource(graph, {}, "stage:2")->stage, 2);
  EXPECT_THAT(FindSource(graph, {}, "rank:11")->ranks, ElementsAre(11));
}

TEST(FindSource, WhatIsNotThereIsNamedWithWhatIs) {
  const StepGraph graph = BuildGraph(Profile());
  for (const char* name : {"forwar", "rank:12", "stage 3", "stage x", ""}) {
    const auto source = FindSource(graph, {}, name);
    EXPECT_TRUE(absl::IsNotFound(source.status())) << name;
    EXPECT_THAT(std::string(source.status().message()),
                HasSubstr("forward.attention, "));
  }
}

TEST(WithTypical, AStageComputesAsMuchAsTheMedian) {
  StepProfile profile = Profile();
  profile.stage_scale = {1, 2, 1};
  const StepGraph graph = BuildGraph(profile);
  const Sources sources = FindSources(graph);
  const Source& stage = SourceNamed(sources, "stage 1");
  EXPECT_DOUBLE_EQ(stage.excess, 2);
  profile.stage_scale = {};
  EXPECT_NEAR(Nominal(WithTypical(graph, stage)), Nominal(BuildGraph(profile)),
              1e-12);
  EXPECT_TRUE(WithTypical(graph, stage).Validate().ok());
}

TEST(WithTypical, LeavesTheNominalStepOfAKindAsItIs) {
  const StepGraph graph = BuildGraph(Profile());
  for (const Source& source : FindSources(graph).list) {
    EXPECT_NEAR(Nominal(WithTypical(graph, source)), Nominal(graph), 1e-12)
        << source.name;
  }
}

TEST(WithScaled, ScalesWhatTheSourceTakes) {
  StepProfile profile = Profile();
  const StepGraph graph = BuildGraph(profile);
  profile.backward[0].compute = Distribution::MakeNormal(16, 0.2);
  const auto source = FindSource(graph, {}, "backward");
  ASSERT_TRUE(source.ok());
  Source compute = *source;
  compute.tasks.resize(1);
  EXPECT_NEAR(Nominal(WithScaled(graph, compute, 2)),
              Nominal(BuildGraph(profile)), 1e-12);
  const auto rank = FindSource(graph, {}, "rank:3");
  EXPECT_DOUBLE_EQ(WithScaled(graph, *rank, 1.5).slowdown[3], 1.5);
}

TEST(WithScaled, ToNothingIsWithout) {
  StepProfile profile = Profile();
  const StepGraph graph = BuildGraph(profile);
  profile.transfer = {};
  const auto transfer = FindSource(graph, {}, "transfer");
  EXPECT_NEAR(Nominal(WithScaled(graph, *transfer, 0)),
              Nominal(BuildGraph(profile)), 1e-12);
}

}  // namespace
}  // namespace prism::explain
