#include "core/estimate/graph_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/estimate/estimate.h"
#include "core/workload/testing/jobs.h"

namespace prism::estimate {
namespace {

using step::Phase;
using step::Program;
using step::StepGraph;
using ::testing::ElementsAre;
using workload::Job;

hardware::Cluster DgxA100(int64_t nodes) {
  hardware::Cluster cluster;
  cluster.accelerator = "a100-80gb-sxm";
  cluster.nodes = nodes;
  return cluster;
}

// 4 replicas of 2 stages of 8 GPUs.
Job SmallJob() {
  Job job;
  job.model = workload::testing::Gpt(8, 2048, 16);
  job.parallelism.tensor = 8;
  job.parallelism.pipeline = 2;
  job.parallelism.data = 4;
  job.training =
      workload::testing::MegatronTraining(32, 1, workload::Recompute::kNone);
  return job;
}

StepGraph Graph(const Job& job, const hardware::Cluster& cluster,
                const Placement& placement = {}) {
  absl::StatusOr<Estimate> estimate = BuildEstimate(job, cluster, placement);
  EXPECT_TRUE(estimate.ok()) << estimate.status();
  const absl::Status valid = estimate->graph.Validate();
  EXPECT_TRUE(valid.ok()) << valid;
  return std::move(estimate->graph);
}

const Program& ProgramOf(const StepGraph& graph, Phase phase, size_t stage) {
  return graph.programs[static_cast<size_t>(
      graph.program_of[static_cast<size_t>(phase)][stage])];
}

std::vector<std::string> SegmentNames(const Program& program) {
  std::vector<std::string> names;
  for (const step::Segment& segment : program.segments) {
    names.push_back(segment.name);
  }
  return names;
}

double Seconds(const StepGraph& graph, const Program& program,
               const std::string& kind) {
  double seconds = 0;
  for (const step::Segment& segment : program.segments) {
    for (const step::Task& task : segment.tasks) {
      if (graph.kinds[static_cast<size_t>(task.kind)] != kind) continue;
      seconds += static_cast<double>(segment.count) *
                 graph.distributions[static_cast<size_t>(task.distribution)]
                     .StatedMean();
    }
  }
  return seconds;
}

TEST(GraphBuilderTest, GridIsThatOfTheJob) {
  const StepGraph graph = Graph(SmallJob(), DgxA100(8));
  EXPECT_EQ(graph.grid.replicas, 4);
  EXPECT_EQ(graph.grid.stages, 2);
  EXPECT_EQ(graph.grid.lanes, 8);
  EXPECT_EQ(graph.microbatches, 8);
}

TEST(GraphBuilderTest, FirstStageEmbedsAndLastStageHasTheHead) {
  const StepGraph graph = Graph(SmallJob(), DgxA100(8));
  EXPECT_THAT(SegmentNames(ProgramOf(graph, Phase::kForward, 0)),
              ElementsAre("host", "embedding", "layer", "send"));
  EXPECT_THAT(SegmentNames(ProgramOf(graph, Phase::kForward, 1)),
              ElementsAre("host", "layer", "head"));
  EXPECT_THAT(SegmentNames(ProgramOf(graph, Phase::kBackward, 1)),
              ElementsAre("host", "head", "layer", "send"));
  EXPECT_THAT(SegmentNames(ProgramOf(graph, Phase::kBackward, 0)),
              ElementsAre("host", "layer", "embedding"));
}

TEST(GraphBuilderTest, OneStageDoesAll) {
  Job job = SmallJob();
  job.parallelism.pipeline = 1;
  job.parallelism.data = 8;
  const StepGraph graph = Graph(job, DgxA100(8));
  EXPECT_THAT(SegmentNames(ProgramOf(graph, Phase::kForward, 0)),
              ElementsAre("host", "embedding", "layer", "head"));
}

TEST(GraphBuilderTest, InterleavedStagesHoldTheirShareOfLayers) {
  Job job = SmallJob();
  job.parallelism.virtual_stages = 2;
  job.parallelism.schedule = workload::Schedule::kInterleaved;
  const StepGraph graph = Graph(job, DgxA100(8));
  EXPECT_THAT(graph.stage_of, ElementsAre(0, 1, 0, 1));
  for (size_t u = 0; u < 4; ++u) {
    for (const auto& segment : ProgramOf(graph, Phase::kForward, u).segments) {
      if (segment.name != "layer") continue;
      EXPECT_EQ(segment.count, 2);
    }
  }
}

TEST(GraphBuilderTest, RecomputationIsItsOwnKind) {
  Job job = SmallJob();
  const StepGraph none = Graph(job, DgxA100(8));
  EXPECT_EQ(Seconds(none, ProgramOf(none, Phase::kBackward, 0), "recompute"),
            0);
  job.training.recompute = workload::Recompute::kFull;
  const StepGraph full = Graph(job, DgxA100(8));
  const double again =
      Seconds(full, ProgramOf(full, Phase::kBackward, 0), "recompute");
  const double embedding_and_layers =
      Seconds(full, ProgramOf(full, Phase::kForward, 0), "compute");
  EXPECT_GT(again, 0.9 * embedding_and_layers);
  EXPECT_LT(again, embedding_and_layers);
}

TEST(GraphBuilderTest, TransfersInsideANodeAreFaster) {
  Job job = SmallJob();
  job.parallelism.tensor = 1;
  job.parallelism.data = 1;
  job.parallelism.rank_order = workload::RankOrder::kTensorPipelineData;
  hardware::Cluster apart = DgxA100(2);
  apart.gpus_per_node = 1;
  const StepGraph near = Graph(job, DgxA100(1));
  const StepGraph far = Graph(job, apart);
  EXPECT_LT(3 * Seconds(near, ProgramOf(near, Phase::kForward, 0),
                        "pipeline_communication"),
            Seconds(far, ProgramOf(far, Phase::kForward, 0),
                    "pipeline_communication"));
}

TEST(GraphBuilderTest, Zero1ReplacesTheReductionAndShortensTheUpdate) {
  Job job = SmallJob();
  const StepGraph plain = Graph(job, DgxA100(8));
  job.parallelism.sharding = workload::Sharding::kZero1;
  const StepGraph sharded = Graph(job, DgxA100(8));
  const auto closing = [](const StepGraph& graph, const char* kind) {
    return Seconds(graph, graph.programs[static_cast<size_t>(graph.closing[0])],
                   kind);
  };
  EXPECT_LT(2 * closing(sharded, "optimizer"), closing(plain, "optimizer"));
  // Scatter and gather carry what the all-reduce did.
  EXPECT_NEAR(closing(sharded, "data_communication") /
                  closing(plain, "data_communication"),
              1, 0.1);
}

TEST(GraphBuilderTest, TiedCopiesAreSummedOnFirstAndLastStage) {
  Job job = SmallJob();
  job.parallelism.pipeline = 4;
  job.parallelism.data = 2;
  const StepGraph graph = Graph(job, DgxA100(8));
  const auto tasks = [&graph](size_t stage) {
    return graph.programs[static_cast<size_t>(graph.closing[stage])]
        .segments[0]
        .tasks.size();
  };
  EXPECT_EQ(tasks(0), tasks(1) + 1);
  EXPECT_EQ(tasks(3), tasks(1) + 1);
}

// Replicas and stages whose ranks are slow.
std::vector<std::pair<int, int>> SlowGroups(const StepGraph& graph) {
  std::vector<std::pair<int, int>> slow;
  for (int replica = 0; replica < graph.grid.replicas; ++replica) {
    for (int stage = 0; stage < graph.grid.stages; ++stage) {
      const int rank = (replica * graph.grid.stages + stage) * graph.grid.lanes;
      if (graph.slowdown[static_cast<size_t>(rank)] > 1) {
        slow.emplace_back(replica, stage);
      }
    }
  }
  return slow;
}

TEST(GraphBuilderTest, SlowNodeLandsOnItsRanks) {
  hardware::Cluster cluster = DgxA100(8);
  cluster.node_states = {{.node = 5, .slowdown = 1.25}};
  Job job = SmallJob();
  // Node 5 is launched ranks 40 to 47: replica 1 of stage 1.
  EXPECT_THAT(SlowGroups(Graph(job, cluster)), ElementsAre(std::pair(1, 1)));
  // Or stage 1 of replica 2.
  job.parallelism.rank_order = workload::RankOrder::kTensorPipelineData;
  EXPECT_THAT(SlowGroups(Graph(job, cluster)), ElementsAre(std::pair(2, 1)));
}

TEST(GraphBuilderTest, PlacementMovesTheSlowNode) {
  hardware::Cluster cluster = DgxA100(9);
  cluster.node_states = {{.node = 8, .slowdown = 1.25}};
  EXPECT_TRUE(Graph(SmallJob(), cluster).slowdown.empty());
  EXPECT_THAT(SlowGroups(Graph(SmallJob(), cluster,
                               {.nodes = {0, 1, 2, 8, 4, 5, 6, 7}})),
              ElementsAre(std::pair(3, 0)));
}

TEST(GraphBuilderTest, EqualNodesNeedNoFactors) {
  EXPECT_TRUE(Graph(SmallJob(), DgxA100(8)).slowdown.empty());
}

}  // namespace
}  // namespace prism::estimate
