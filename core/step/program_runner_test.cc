#include "core/step/program_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/step/test_support.h"

namespace prism::step {
namespace {

using stats::Distribution;
using testing::ElementsAre;

// Runs programs of a graph on whole samples and gives the ranks' clocks.
class Runner {
 public:
  explicit Runner(const StepGraph& graph, int samples = 1,
                  DrawMode mode = DrawMode::kRandom)
      : graph_(graph) {
    auto compiled = Compile(graph_);
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    compiled_ = *std::move(compiled);
    compiled_.graph = &graph_;
    elements_.Resize(size_t(samples) * graph_.grid.replicas);
    for (size_t e = 0; e < elements_.count; ++e) {
      elements_.replica[e] = e % graph_.grid.replicas;
      elements_.sample[e] = e / graph_.grid.replicas;
    }
    runner_ = std::make_unique<ProgramRunner>(compiled_, 7, mode);
    runner_->BeginBlock(elements_, true);
  }

  // Clocks after the program, begun at 0: [element][lane].
  std::vector<std::vector<double>> Run(const ProgramContext& context) {
    clock_.assign(graph_.grid.lanes * elements_.stride(), 0);
    runner_->Run(context, clock_.data());
    std::vector<std::vector<double>> clocks(elements_.count);
    for (size_t e = 0; e < elements_.count; ++e) {
      for (int lane = 0; lane < graph_.grid.lanes; ++lane) {
        clocks[e].push_back(clock_[lane * elements_.stride() + e]);
      }
    }
    return clocks;
  }

 private:
  StepGraph graph_;
  CompiledGraph compiled_;
  Elements elements_;
  std::unique_ptr<ProgramRunner> runner_;
  std::vector<double> clock_;
};

// Ranks that compute for 1, 2, 3 .. seconds and then meet in `group` for 10.
StepGraph MeetingGraph(RankGrid grid, Group group) {
  StepGraph graph = EmptyGraph(grid);
  graph.groups = {group};
  for (int64_t rank = 0; rank < grid.ranks(); ++rank) {
    graph.slowdown.push_back(static_cast<double>(rank + 1));
  }
  Task meet = ConstantTask(graph, 10);
  meet.factor_class = FactorClass::kNetwork;
  meet.group = 0;
  AddSegment(graph, kForwardProgram, {ConstantTask(graph, 1), meet});
  return graph;
}

TEST(GroupTest, NeighbouringLanesMeet) {
  Runner runner(MeetingGraph({1, 1, 4}, {.lane_count = 2}));
  EXPECT_THAT(runner.Run({})[0], ElementsAre(12, 12, 14, 14));
}

TEST(GroupTest, LanesAStrideApartMeet) {
  Runner runner(MeetingGraph({1, 1, 4}, {.lane_stride = 2, .lane_count = 2}));
  EXPECT_THAT(runner.Run({})[0], ElementsAre(13, 14, 13, 14));
}

TEST(GroupTest, LatticesRepeatAlongTheLanes) {
  Runner runner(MeetingGraph({1, 1, 8}, {.lane_stride = 2, .lane_count = 2}));
  EXPECT_THAT(runner.Run({})[0], ElementsAre(13, 14, 13, 14, 17, 18, 17, 18));
}

TEST(GroupTest, NeighbouringReplicasMeet) {
  Runner runner(MeetingGraph({4, 1, 1}, {.replica_count = 2}));
  EXPECT_THAT(runner.Run({}), ElementsAre(ElementsAre(12), ElementsAre(12),
                                          ElementsAre(14), ElementsAre(14)));
}

TEST(GroupTest, ReplicasAStrideApartMeet) {
  Runner runner(
      MeetingGraph({4, 1, 1}, {.replica_stride = 2, .replica_count = 2}));
  EXPECT_THAT(runner.Run({}), ElementsAre(ElementsAre(13), ElementsAre(14),
                                          ElementsAre(13), ElementsAre(14)));
}

TEST(GroupTest, LanesAndReplicasMeet) {
  Runner runner(MeetingGraph(
      {2, 1, 4}, {.lane_stride = 2, .lane_count = 2, .replica_count = 2}));
  EXPECT_THAT(runner.Run({}), ElementsAre(ElementsAre(17, 18, 17, 18),
                                          ElementsAre(17, 18, 17, 18)));
}

TEST(GroupTest, SamplesDoNotMeet) {
  StepGraph graph = MeetingGraph({2, 1, 1}, {.replica_count = 2});
  graph.distributions[graph.programs[0].segments[0].tasks[0].distribution] =
      Distribution::MakeGamma(1, 1);
  const auto clocks = Runner(graph, 50).Run({});
  std::set<double> ends;
  for (size_t e = 0; e < clocks.size(); e += 2) {
    EXPECT_EQ(clocks[e], clocks[e + 1]);
    ends.insert(clocks[e][0]);
  }
  EXPECT_EQ(ends.size(), 50u);
}

// Ranks that only meet, for a random time.
StepGraph DrawingGraph(RankGrid grid, Group group) {
  StepGraph graph = EmptyGraph(grid);
  graph.groups = {group};
  Task meet{
      .distribution = graph.add_distribution(Distribution::MakeGamma(1, 1)),
      .factor_class = FactorClass::kNetwork,
      .group = 0};
  AddSegment(graph, kForwardProgram, {meet});
  return graph;
}

TEST(GroupTest, MembersShareOneDrawAndGroupsHaveTheirOwn) {
  Runner runner(DrawingGraph({4, 1, 4}, {.lane_stride = 2,
                                         .lane_count = 2,
                                         .replica_stride = 2,
                                         .replica_count = 2}));
  const auto clocks = runner.Run({});
  std::set<double> ends;
  for (int replica = 0; replica < 4; ++replica) {
    for (int lane = 0; lane < 4; ++lane) {
      EXPECT_EQ(clocks[replica][lane], clocks[replica % 2][lane % 2]);
      ends.insert(clocks[replica][lane]);
    }
  }
  EXPECT_EQ(ends.size(), 4u);
}

TEST(GroupTest, RanksWithoutAGroupDrawTheirOwn) {
  StepGraph graph = DrawingGraph({4, 1, 4}, {});
  graph.programs[kForwardProgram].segments[0].tasks[0].group = kNoGroup;
  std::set<double> ends;
  for (const auto& lanes : Runner(graph).Run({})) {
    ends.insert(lanes.begin(), lanes.end());
  }
  EXPECT_EQ(ends.size(), 16u);
}

TEST(GroupTest, FactorIsThatOfTheFirstRank) {
  StepGraph graph = MeetingGraph({2, 1, 2}, {.replica_count = 2});
  // Rank = replica * 2 + lane.
  graph.group_factor = {{2, 3, 99, 99}};
  EXPECT_THAT(Runner(graph).Run({}), ElementsAre(ElementsAre(3 + 20, 4 + 30),
                                                 ElementsAre(3 + 20, 4 + 30)));
}

// The draw is one, so its factors are those of the first member.
TEST(GroupTest, MembersOfUnequalReplicaFactorsEndTogether) {
  StepGraph graph = DrawingGraph({2, 1, 1}, {.replica_count = 2});
  graph.shared_factors = {{Distribution::MakeGamma(1, 1),
                           FactorScope::kReplica,
                           {false, false, true}}};
  for (int samples : {1, 20}) {
    const auto clocks = Runner(graph, samples).Run({});
    for (size_t e = 0; e < clocks.size(); e += 2) {
      EXPECT_EQ(clocks[e], clocks[e + 1]);
    }
  }
}

// A constant second times a factor of 1 or 2: the clock is the factor.
StepGraph FactorGraph(FactorScope scope, FactorClass of_task,
                      FactorClass applies_to) {
  StepGraph graph = EmptyGraph({8, 2, 2}, 8);
  Task task = ConstantTask(graph, 1);
  task.factor_class = of_task;
  AddSegment(graph, kForwardProgram, {task});
  SharedFactor factor{Distribution::MakeEmpirical({1, 2}), scope, {}};
  factor.applies_to[static_cast<int>(applies_to)] = true;
  graph.shared_factors = {factor};
  return graph;
}

std::set<double> Values(const std::vector<std::vector<double>>& clocks) {
  std::set<double> values;
  for (const auto& lanes : clocks) values.insert(lanes.begin(), lanes.end());
  return values;
}

TEST(SharedFactorTest, OfTheStepIsOneForAllReplicas) {
  const StepGraph graph = FactorGraph(FactorScope::kStep, FactorClass::kCompute,
                                      FactorClass::kCompute);
  EXPECT_EQ(Values(Runner(graph, 1).Run({})).size(), 1u);
  EXPECT_EQ(Values(Runner(graph, 20).Run({})), std::set<double>({1, 2}));
}

TEST(SharedFactorTest, OfTheReplicaHoldsForItsStagesLanesAndMicrobatches) {
  Runner runner(FactorGraph(FactorScope::kReplica, FactorClass::kCompute,
                            FactorClass::kCompute));
  const auto clocks = runner.Run({.microbatch = 0, .stream_operation = 1});
  EXPECT_EQ(Values(clocks), std::set<double>({1, 2}));
  for (const auto& lanes : clocks) EXPECT_EQ(lanes[0], lanes[1]);
  EXPECT_EQ(clocks, runner.Run({.stage = 1, .stream_operation = 2}));
  EXPECT_EQ(clocks, runner.Run({.microbatch = 5, .stream_operation = 3}));
}

TEST(SharedFactorTest, OfTheMicrobatchDiffersBetweenMicrobatches) {
  Runner runner(FactorGraph(FactorScope::kReplicaMicrobatch,
                            FactorClass::kCompute, FactorClass::kCompute));
  const auto first = runner.Run({.microbatch = 0});
  EXPECT_EQ(Values(first), std::set<double>({1, 2}));
  EXPECT_EQ(first, runner.Run({.stage = 1, .microbatch = 0}));
  EXPECT_NE(first, runner.Run({.microbatch = 1}));
}

TEST(SharedFactorTest, OfTheMicrobatchSparesTheClosing) {
  Runner runner(FactorGraph(FactorScope::kReplicaMicrobatch,
                            FactorClass::kCompute, FactorClass::kCompute));
  EXPECT_EQ(Values(runner.Run({})), std::set<double>({1}));
}

TEST(SharedFactorTest, SparesOtherClasses) {
  for (FactorClass spared : {FactorClass::kOptimizer, FactorClass::kNetwork}) {
    const StepGraph graph =
        FactorGraph(FactorScope::kReplica, spared, FactorClass::kCompute);
    EXPECT_EQ(Values(Runner(graph).Run({})), std::set<double>({1}));
  }
}

TEST(SharedFactorTest, OfOneClassMultiply) {
  StepGraph graph = FactorGraph(FactorScope::kStep, FactorClass::kCompute,
                                FactorClass::kCompute);
  graph.shared_factors[0].distribution = Distribution::MakeConstant(3);
  graph.shared_factors.push_back({Distribution::MakeConstant(5),
                                  FactorScope::kReplicaMicrobatch,
                                  {true, false, false}});
  EXPECT_EQ(Values(Runner(graph).Run({.stage_scale = 7, .microbatch = 2})),
            std::set<double>({105}));
}

TEST(DrawModeTest, NominalDrawsAreTheStatedMeans) {
  StepGraph graph = DrawingGraph({2, 1, 2}, {.lane_count = 2});
  // Its mean after the cut at 0 is 1.4.
  graph.distributions.back() = Distribution::MakeNormal(1, 2);
  Runner runner(graph, 3, DrawMode::kNominal);
  EXPECT_EQ(Values(runner.Run({})), std::set<double>({1}));
}

TEST(RandomStreamTest, OperationsAndRepetitionsDrawAnew) {
  StepGraph graph = DrawingGraph({1, 1, 1}, {});
  Runner once(graph);
  const double first = once.Run({.stream_operation = 1})[0][0];
  EXPECT_EQ(once.Run({.stream_operation = 1})[0][0], first);
  EXPECT_NE(once.Run({.stream_operation = 2})[0][0], first);
  graph.programs[kForwardProgram].segments[0].count = 2;
  EXPECT_NE(Runner(graph).Run({.stream_operation = 1})[0][0], 2 * first);
}

// --- what-ifs ---

// Three tasks that draw, the middle one of a group or of each rank.
StepGraph ThreeDraws(int group) {
  StepGraph graph = EmptyGraph({2, 1, 2});
  graph.groups = {{.lane_count = 2}};
  std::vector<Task> tasks;
  for (const int of : {group, group, kNoGroup}) {
    tasks.push_back({.distribution = graph.add_distribution(
                         Distribution::MakeGamma(1, 0.5)),
                     .group = of});
  }
  AddSegment(graph, kForwardProgram, tasks, 3);
  return graph;
}

TEST(ProgramRunnerTest, AFrozenTaskLeavesOtherDrawsAsTheyAre) {
  for (const int group : {kNoGroup, 0}) {
    for (size_t frozen = 0; frozen < 3; ++frozen) {
      StepGraph graph = ThreeDraws(group);
      const auto drawn = Runner(graph).Run({});
      auto& tasks = graph.programs[kForwardProgram].segments[0].tasks;
      // Zero for nothing but the frozen one: what is left is the others'.
      StepGraph others = graph;
      auto& kept = others.programs[kForwardProgram].segments[0].tasks;
      const int zero = others.add_distribution(Distribution::MakeConstant(0));
      kept[frozen].distribution = zero;
      kept[frozen].frozen = true;
      tasks[frozen].distribution =
          graph.add_distribution(Distribution::MakeConstant(10));
      tasks[frozen].frozen = true;
      const auto with = Runner(graph).Run({});
      const auto without = Runner(others).Run({});
      for (size_t e = 0; e < with.size(); ++e) {
        for (size_t lane = 0; lane < with[e].size(); ++lane) {
          // In groups lanes wait, so sums need not be those of one lane; with
          // equal additions to all lanes they are.
          EXPECT_NEAR(with[e][lane], without[e][lane] + 30, 1e-9);
          EXPECT_LT(without[e][lane], drawn[e][lane]);
        }
      }
    }
  }
}

// The load of each micro-batch, by replica.
std::vector<std::vector<double>> Loads(LoadOrder order, int replicas,
                                       int microbatches) {
  StepGraph graph = EmptyGraph({replicas, 1, 1}, microbatches);
  AddSegment(graph, kForwardProgram, {ConstantTask(graph, 1)});
  graph.shared_factors = {{.distribution = Distribution::MakeGamma(1, 0.5),
                           .scope = FactorScope::kReplicaMicrobatch,
                           .applies_to = {true, false, false},
                           .order = order}};
  Runner runner(graph, 3);
  std::vector<std::vector<double>> loads(3 * replicas);
  for (int m = 0; m < microbatches; ++m) {
    const auto clocks = runner.Run({.microbatch = m});
    for (size_t e = 0; e < clocks.size(); ++e) {
      loads[e].push_back(clocks[e][0]);
    }
  }
  return loads;
}

TEST(ProgramRunnerTest, SortedLoadsAreDealtInRounds) {
  constexpr int kReplicas = 5, kMicrobatches = 4;
  const auto drawn = Loads(LoadOrder::kAsDrawn, kReplicas, kMicrobatches);
  for (const LoadOrder order :
       {LoadOrder::kLongestFirst, LoadOrder::kShortestFirst}) {
    const auto dealt = Loads(order, kReplicas, kMicrobatches);
    for (int sample = 0; sample < 3; ++sample) {
      std::vector<double> all;
      for (int r = 0; r < kReplicas; ++r) {
        const auto& own = drawn[sample * kReplicas + r];
        all.insert(all.end(), own.begin(), own.end());
      }
      std::sort(all.begin(), all.end());
      if (order == LoadOrder::kLongestFirst) {
        std::reverse(all.begin(), all.end());
      }
      for (int m = 0; m < kMicrobatches; ++m) {
        for (int r = 0; r < kReplicas; ++r) {
          const int place = m % 2 == 0 ? r : kReplicas - 1 - r;
          EXPECT_EQ(dealt[sample * kReplicas + r][m],
                    all[m * kReplicas + place]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace prism::step
