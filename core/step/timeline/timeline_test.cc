#include "core/step/timeline/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/step/monte_carlo.h"
#include "core/step/random_profile.h"
#include "core/step/schedules/asynchronous.h"
#include "core/step/schedules/continuous_support.h"
#include "core/step/test_support.h"

namespace prism::step {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kKey = 7;
constexpr int64_t kSamples = 200;

Timeline Record(const StepGraph& graph, TimelineOptions options) {
  base::InlineExecutor executor;
  auto timeline =
      RecordTimeline(graph, options, base::UnlimitedBudget(), executor);
  EXPECT_TRUE(timeline.ok()) << timeline.status();
  return timeline.ok() ? *std::move(timeline) : Timeline();
}

Timeline Record(const StepGraph& graph) {
  return Record(graph,
                {.tasks = true, .samples = kSamples, .random_key = kKey});
}

SimulatedSteps Simulated(const StepGraph& graph) {
  const auto compiled = Compile(graph);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  base::InlineExecutor executor;
  auto steps = SimulateSteps(
      *compiled,
      {.method = Method::kMonteCarlo, .samples = kSamples, .random_key = kKey},
      base::UnlimitedBudget(), executor);
  EXPECT_TRUE(steps.ok()) << steps.status();
  return *std::move(steps);
}

double Distance(double a, double b) { return std::abs(a - b); }

class RecordedProfileTest : public testing::TestWithParam<uint64_t> {
 protected:
  RecordedProfileTest() : graph_(BuildGraph(RandomProfile(GetParam()))) {}

  const StepGraph graph_;
};

TEST_P(RecordedProfileTest, StepsEndWhenTheEnginesSay) {
  const Timeline timeline = Record(graph_);
  const auto nominal = SimulateNominal(graph_);
  ASSERT_TRUE(nominal.ok());
  const SimulatedSteps simulated = Simulated(graph_);
  ASSERT_THAT(timeline.steps, SizeIs(3));
  EXPECT_EQ(timeline.steps[0].seconds, nominal->seconds);
  EXPECT_EQ(timeline.time.quantile_seconds, simulated.time.quantile_seconds);
  for (const auto& [index, level] : {std::pair{1, 3}, {2, 6}}) {
    const TimelineStep& step = timeline.steps[index];
    EXPECT_EQ(step.seconds, simulated.step_seconds[step.sample]);
    const double target = simulated.time.quantile_seconds[level];
    for (const double other : simulated.step_seconds) {
      EXPECT_LE(Distance(step.seconds, target), Distance(other, target));
    }
  }
}

TEST_P(RecordedProfileTest, TheLastRankEndsTheStep) {
  for (const TimelineStep& step : Record(graph_).steps) {
    double latest = 0;
    for (const TimelineRank& rank : step.ranks) {
      double end = rank.operations.back().end_seconds;
      // Detached tasks may go on beside the last operation.
      latest = std::max(latest, end);
      if (rank.rank == step.last_rank) {
        EXPECT_EQ(end, step.seconds);
      }
    }
    EXPECT_EQ(latest, step.seconds);
  }
}

TEST_P(RecordedProfileTest, RanksRunTheirOrderOneAfterTheOther) {
  for (const TimelineStep& step : Record(graph_).steps) {
    EXPECT_THAT(step.ranks, SizeIs(graph_.grid.stages));
    for (const TimelineRank& rank : step.ranks) {
      const auto& order = graph_.order[rank.stage];
      ASSERT_THAT(rank.operations, SizeIs(order.size() + 1));
      double clock = 0;
      for (size_t i = 0; i < rank.operations.size(); ++i) {
        const TimelineOperation& ran = rank.operations[i];
        if (i < order.size()) {
          EXPECT_EQ(*ran.operation, order[i]);
        } else {
          EXPECT_FALSE(ran.operation.has_value());
        }
        EXPECT_EQ(ran.ready_seconds, clock);
        EXPECT_GE(ran.begin_seconds, ran.ready_seconds);
        EXPECT_GE(ran.end_seconds, ran.begin_seconds);
        clock = ran.end_seconds;
      }
    }
  }
}

TEST_P(RecordedProfileTest, InputsCameFromTheirSenders) {
  for (const TimelineStep& step : Record(graph_).steps) {
    std::map<uint32_t, const TimelineOperation*> by_id;
    for (const TimelineRank& rank : step.ranks) {
      for (const TimelineOperation& ran : rank.operations) {
        if (ran.operation) by_id[ran.id] = &ran;
      }
    }
    size_t operations = 0;
    for (const auto& order : graph_.order) operations += order.size();
    EXPECT_THAT(by_id, SizeIs(operations));
    for (const auto& [id, ran] : by_id) {
      if (!ran->input) continue;
      const TimelineOperation& sender = *by_id.at(ran->input->id);
      EXPECT_EQ(ran->input->sent_seconds, sender.end_seconds);
      EXPECT_EQ(sender.operation->microbatch, ran->operation->microbatch);
      EXPECT_EQ(SendsGradient(sender.operation->phase),
                SendsGradient(ran->operation->phase));
      EXPECT_GE(ran->begin_seconds, ran->input->arrival_seconds);
      EXPECT_EQ(ran->begin_seconds,
                std::max(ran->ready_seconds, ran->input->arrival_seconds));
    }
  }
}

TEST_P(RecordedProfileTest, TasksFillTheirOperations) {
  for (const TimelineStep& step : Record(graph_).steps) {
    EXPECT_EQ(step.ranks_without_tasks, 0);
    for (const TimelineRank& rank : step.ranks) {
      for (const TimelineOperation& ran : rank.operations) {
        double clock = ran.begin_seconds;
        for (const TimelineTask& task : ran.tasks) {
          EXPECT_EQ(task.ready_seconds, clock);
          EXPECT_GE(task.begin_seconds, task.ready_seconds);
          EXPECT_GE(task.end_seconds, task.begin_seconds);
          clock = task.end_seconds;
        }
        EXPECT_EQ(clock, ran.end_seconds);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RecordedProfileTest,
                         testing::Range<uint64_t>(0, 40));

TEST(RecordTimelineTest, GroupsWaitForTheirLastMember) {
  StepProfile profile = ConstantProfile(ScheduleKind::kOneForwardOneBackward, 1,
                                        1, 1, 1000, 2000);
  profile.data = 2;
  profile.tensor = 2;
  profile.forward[0].sync = Sync::kTensor;
  profile.forward[0].collective = stats::Distribution::MakeConstant(500);
  profile.slowdown = {{1, 2.0}};
  const Timeline timeline = Record(
      BuildGraph(profile), {.ranks = {0, 2}, .tasks = true, .samples = 3});
  const TimelineStep& step = timeline.steps[0];
  ASSERT_THAT(step.ranks, SizeIs(3));  // and rank 1, which ends last
  const auto& beside_slow = step.ranks[0].operations;
  EXPECT_EQ(beside_slow[0].tasks[1].ready_seconds, 1);
  EXPECT_EQ(beside_slow[0].tasks[1].begin_seconds, 2);
  EXPECT_EQ(beside_slow[0].tasks[1].end_seconds, 2.5);
  // Rank 1 is done with its backward 2 s after rank 0; the reduction of lane 0
  // waits for rank 0 alone, which rank 1 held up by 1 s.
  const auto& other_replica = step.ranks[2].operations;
  EXPECT_EQ(other_replica.back().tasks[0].ready_seconds, 3.5);
  EXPECT_EQ(other_replica.back().tasks[0].begin_seconds, 4.5);
}

TEST(RecordTimelineTest, StreamsRunBesideEachOther) {
  StepGraph graph = EmptyGraph({1, 1, 1});
  Task compute = ConstantTask(graph, 2);
  Task beside = ConstantTask(graph, 3);
  beside.stream = 1;
  beside.detached = true;
  AddSegment(graph, kForwardProgram, {compute, beside});
  AddSegment(graph, kBackwardProgram, {compute});
  AddSegment(graph, kClosingProgram, {compute});
  const Timeline timeline = Record(graph, {.tasks = true, .samples = 3});
  const auto& ran = timeline.steps[0].ranks[0].operations;
  ASSERT_THAT(ran, SizeIs(3));
  EXPECT_EQ(ran[0].end_seconds, 2);
  EXPECT_EQ(ran[0].tasks[1].stream, 1);
  EXPECT_EQ(ran[0].tasks[1].begin_seconds, 2);
  EXPECT_EQ(ran[0].tasks[1].end_seconds, 5);
  EXPECT_EQ(ran[1].end_seconds, 4);
  // The closing waits for the stream.
  EXPECT_EQ(ran[2].ready_seconds, 4);
  EXPECT_EQ(ran[2].begin_seconds, 5);
  EXPECT_EQ(timeline.steps[0].seconds, 7);
}

TEST(RecordTimelineTest, WeightGradientsAreOperations) {
  StepGraph graph = EmptyGraph({1, 1, 1});
  for (const Phase phase : {Phase::kBackwardInput, Phase::kBackwardWeight}) {
    graph.program_of[static_cast<int>(phase)] = {kBackwardProgram};
  }
  graph.order[0].back().phase = Phase::kBackwardInput;
  graph.order[0].push_back({Phase::kBackwardWeight, 0, 0});
  AddSegment(graph, kForwardProgram, {ConstantTask(graph, 1)});
  AddSegment(graph, kBackwardProgram, {ConstantTask(graph, 2)});
  const Timeline timeline = Record(graph, {.samples = 3});
  const auto& ran = timeline.steps[0].ranks[0].operations;
  ASSERT_THAT(ran, SizeIs(4));
  EXPECT_EQ(ran[2].operation->phase, Phase::kBackwardWeight);
  EXPECT_EQ(ran[2].end_seconds, 5);
}

// In the steady state every stage is busy all the time but for hops.
TEST(RecordTimelineTest, OfARunWithoutAFlushItIsTheMeasuredStep) {
  const ContinuousRun run = OneForwardOneBackwardRun(3, 4, 5);
  const StepGraph graph = GraphOf(run, ConstantLaws(run, 1, 2, 0, 0.5));
  const Timeline timeline = Record(graph, {.tasks = true, .samples = 3});
  const TimelineStep& step = timeline.steps[0];
  EXPECT_DOUBLE_EQ(step.seconds, 4 * 3 + 0.5);
  double latest = 0;
  for (const TimelineRank& rank : step.ranks) {
    double clock = 0, busy = 0;
    for (const TimelineOperation& ran : rank.operations) {
      EXPECT_GE(ran.begin_seconds, clock);
      clock = ran.end_seconds;
      busy += ran.end_seconds - ran.begin_seconds;
    }
    latest = std::max(latest, clock);
    EXPECT_GT(busy, 0.5 * step.seconds) << rank.stage;
  }
  EXPECT_NEAR(latest, step.seconds, 1e-9);
}

TEST(RecordTimelineTest, NothingIsAboveTheLimit) {
  const StepGraph graph = BuildGraph(
      ConstantProfile(ScheduleKind::kInterleaved, 4, 2, 8, 1000, 2000));
  for (const int64_t limit : {3, 30, 300, 600, 3000}) {
    const Timeline timeline =
        Record(graph, {.tasks = true, .samples = 3, .most_events = limit});
    int64_t events = 0;
    for (const TimelineStep& step : timeline.steps) {
      EXPECT_FALSE(step.ranks.empty());
      for (const TimelineRank& rank : step.ranks) {
        for (const TimelineOperation& ran : rank.operations) {
          events += 1 + static_cast<int64_t>(ran.tasks.size());
        }
      }
    }
    EXPECT_LE(events, limit);
    EXPECT_GT(events, 0);
  }
}

TEST(RecordTimelineTest, FewSamplesHaveNoP99) {
  const StepGraph graph = BuildGraph(RandomProfile(3));
  EXPECT_THAT(Record(graph, {.samples = 99}).steps, SizeIs(2));
  EXPECT_THAT(Record(graph, {.samples = 100}).steps, SizeIs(3));
}

TEST(RecordTimelineTest, ThreadsChangeNothing) {
  const StepGraph graph = BuildGraph(RandomProfile(11));
  base::ThreadExecutor threads(3);
  const auto other =
      RecordTimeline(graph, {.samples = kSamples, .random_key = kKey},
                     base::UnlimitedBudget(), threads);
  ASSERT_TRUE(other.ok());
  const Timeline timeline = Record(graph);
  for (size_t i = 0; i < timeline.steps.size(); ++i) {
    EXPECT_EQ(other->steps[i].sample, timeline.steps[i].sample);
    EXPECT_EQ(other->steps[i].seconds, timeline.steps[i].seconds);
  }
}

TEST(UsualSamplesTest, LargeStepsAreSimulatedLessOften) {
  struct Case {
    int replicas;  // of 4 draws a step
    int64_t samples;
  };
  for (const Case& c : {Case{1, 1000},
                        {500'000, 1000},
                        {1 << 20, 476},
                        {5'000'000, 100},
                        {12'500'000, 100},
                        {25'000'000, 50},
                        {500'000'000, 3}}) {
    StepGraph graph = BuildGraph(ConstantProfile(
        ScheduleKind::kOneForwardOneBackward, 1, 1, 1, 1000, 2000));
    CompiledGraph compiled;
    compiled.plan = *PlanExecution(graph);
    graph.grid.replicas = c.replicas;
    compiled.graph = &graph;
    EXPECT_EQ(UsualSamples(compiled), c.samples) << c.replicas;
  }
}

TEST(RecordTimelineTest, WithoutSamplesThereAreTheUsual) {
  const StepGraph small = BuildGraph(RandomProfile(1));
  EXPECT_EQ(Record(small, {}).time.samples, 1000);
}

TEST(RecordTimelineTest, BudgetsEndIt) {
  const StepGraph graph = BuildGraph(RandomProfile(5));
  base::InlineExecutor executor;
  const ScriptedBudget cancelled({.looks_until_cancelled = 0});
  EXPECT_EQ(RecordTimeline(graph, {.samples = 100}, cancelled, executor)
                .status()
                .code(),
            absl::StatusCode::kCancelled);
  const ScriptedBudget late({.deadline = absl::ZeroDuration()});
  EXPECT_EQ(
      RecordTimeline(graph, {.samples = 100}, late, executor).status().code(),
      absl::StatusCode::kDeadlineExceeded);
}

TEST(RecordTimelineTest, AShortDeadlineGivesAReducedRun) {
  const StepGraph graph = BuildGraph(RandomProfile(5));
  base::InlineExecutor executor;
  const ScriptedBudget budget(
      {.per_look = absl::Milliseconds(1), .deadline = absl::Milliseconds(500)});
  const auto timeline =
      RecordTimeline(graph, {.samples = 1'000'000}, budget, executor);
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  EXPECT_EQ(timeline->time.quality, Quality::kReduced);
  EXPECT_LT(timeline->time.samples, 1'000'000);
  EXPECT_THAT(timeline->steps, SizeIs(3));
}

TEST(RecordTimelineTest, OrdersThatWaitForEachOtherAreRefused) {
  StepGraph graph = BuildGraph(ConstantProfile(
      ScheduleKind::kOneForwardOneBackward, 2, 1, 1, 1000, 2000));
  std::swap(graph.order[0][0], graph.order[0][1]);
  base::InlineExecutor executor;
  EXPECT_EQ(RecordTimeline(graph, {}, base::UnlimitedBudget(), executor)
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

// Operations of so many replicas are simulated in parts, closings together.
TEST(TimelineTest, ManyReplicasCloseTogether) {
  StepProfile profile =
      ConstantProfile(ScheduleKind::kOneForwardOneBackward, 2, 1, 2, 10, 20);
  profile.data = 3000;
  profile.slowdown = {{4001, 1.5}};
  const Timeline timeline =
      Record(BuildGraph(profile),
             {.ranks = {1, 4001, 5999}, .samples = 3, .random_key = kKey});
  for (const TimelineStep& step : timeline.steps) {
    std::map<int, double> end_of_stage;
    for (const TimelineRank& rank : step.ranks) {
      ASSERT_THAT(rank.operations, SizeIs(5)) << rank.rank;
      const TimelineOperation& closing = rank.operations.back();
      EXPECT_FALSE(closing.operation.has_value());
      EXPECT_EQ(closing.ready_seconds, closing.begin_seconds);
      // All replicas of a stage end together, with the slow one.
      end_of_stage.try_emplace(rank.stage, closing.end_seconds);
      EXPECT_EQ(closing.end_seconds, end_of_stage[rank.stage]) << rank.rank;
    }
    EXPECT_EQ(end_of_stage[0], step.seconds);
  }
}

}  // namespace
}  // namespace prism::step
