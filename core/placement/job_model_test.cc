#include "core/placement/job_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/placement/test_support.h"

namespace prism::placement {
namespace {

TEST(LayoutTest, NodesHoldConsecutiveRanks) {
  workload::Parallelism parallelism;
  parallelism.tensor = 4;
  parallelism.pipeline = 2;
  parallelism.data = 3;
  const Layout layout(parallelism, 8);
  EXPECT_EQ(layout.positions(), 3);
  // Tensor, then data, then pipeline: replicas 0 and 1 of stage 0 share a node.
  EXPECT_EQ(layout.Cell(0, 0)[0].position, 0);
  EXPECT_EQ(layout.Cell(1, 0)[0].position, 0);
  EXPECT_EQ(layout.Cell(2, 0)[0].position, 1);
  EXPECT_EQ(layout.Cell(0, 1)[0].position, 1);
  EXPECT_EQ(layout.Cell(0, 0)[0].ranks, 4);
  EXPECT_EQ(layout.CellsAt(1).size(), 2u);
  EXPECT_EQ(layout.GpusAt(2), 8);
}

TEST(LayoutTest, TensorGroupsMaySpanNodes) {
  workload::Parallelism parallelism;
  parallelism.tensor = 8;
  const Layout layout(parallelism, 3);
  ASSERT_EQ(layout.Cell(0, 0).size(), 3u);
  EXPECT_EQ(layout.Cell(0, 0)[2].ranks, 2);
  EXPECT_EQ(layout.GpusAt(2), 2);
}

// The slowdowns of the graph, found without building it.
TEST(JobModelTest, SlowdownsAreThoseOfTheGraph) {
  hardware::Cluster cluster = TestCluster(12, 4, 4);
  SetSpeeds(0.05, 1, cluster);
  cluster.node_states.resize(7);  // five that nobody measured
  const auto model =
      TestModel(TestJob({.tensor = 4, .pipeline = 2, .data = 4}), cluster);
  std::mt19937_64 random(5);
  for (int i = 0; i < 5; ++i) {
    const NodeList nodes = RandomNodes(cluster, 8, random);
    const auto graph = model->Graph(nodes);
    ASSERT_TRUE(graph.ok());
    std::vector<double> slowdown;
    model->PositionSlowdowns(nodes, model->measured(), slowdown);
    for (int r = 0; r < 4; ++r) {
      for (int s = 0; s < 2; ++s) {
        EXPECT_NEAR(model->CellSlowdown(r, s, slowdown),
                    graph->slowdown[(r * 2 + s) * 4], 1e-12);
      }
    }
  }
}

// Parts learned from other placements make up the times of a new one.
void ExpectTimesOfTheGraph(const workload::Job& job) {
  const hardware::Cluster cluster = TestCluster(24, 4, 4);
  const auto model = TestModel(job, cluster);
  std::mt19937_64 random(6);
  for (int i = 0; i < 20; ++i) {
    const NodeList nodes = RandomNodes(cluster, 12, random);
    const auto found = model->CommunicationOf(nodes);
    const auto graph = model->Graph(nodes);
    ASSERT_TRUE(found.ok() && graph.ok());
    const StepTimes times = TimesOf(*graph);
    EXPECT_EQ(found->closing, times.closing) << i;
    const TimedPipeline expected = model->response().Timed(times);
    const TimedPipeline& pipeline = model->pipeline(found->pipeline);
    ASSERT_EQ(pipeline.size(), expected.size());
    for (size_t k = 0; k < expected.size(); ++k) {
      EXPECT_EQ(pipeline[k].network, expected[k].network) << i << " " << k;
      EXPECT_EQ(pipeline[k].compute, expected[k].compute) << i << " " << k;
      EXPECT_EQ(pipeline[k].hop, expected[k].hop) << i << " " << k;
    }
  }
}

TEST(JobModelTest, CommunicationIsThatOfTheGraph) {
  workload::Job job = TestJob({.tensor = 4, .pipeline = 3, .data = 4});
  ExpectTimesOfTheGraph(job);
  job.parallelism.overlap.pipeline = true;
  ExpectTimesOfTheGraph(job);
  job.parallelism.sharding = workload::Sharding::kZero3;
  job.parallelism.shard_group = 2;
  ExpectTimesOfTheGraph(job);
}

TEST(JobModelTest, CommunicationOfFoldedPipelinesIsThatOfTheGraph) {
  using workload::Schedule;
  for (const Schedule schedule :
       {Schedule::kZeroBubbleH1, Schedule::kZeroBubbleV, Schedule::kDualPipe}) {
    workload::Job job =
        TestJob({.tensor = 4, .pipeline = 4, .data = 3, .microbatches = 8});
    job.parallelism.schedule = schedule;
    if (schedule != Schedule::kZeroBubbleH1) job.parallelism.virtual_stages = 2;
    ExpectTimesOfTheGraph(job);
    job.parallelism.overlap.pipeline = true;
    ExpectTimesOfTheGraph(job);
  }
}

TEST(JobModelTest, SlowPathsTellPlacementsApart) {
  hardware::Cluster cluster = FlatCluster(4, 4);
  cluster.path_states = {{.from = 0, .to = 1, .slowdown = 5}};
  const auto model = TestModel(TestJob({.tensor = 4, .pipeline = 2}), cluster);
  const auto slow = model->CommunicationOf({0, 1});
  const auto fast = model->CommunicationOf({0, 2});
  const auto also_fast = model->CommunicationOf({2, 3});
  ASSERT_TRUE(slow.ok() && fast.ok() && also_fast.ok());
  EXPECT_EQ(*fast, *also_fast);
  EXPECT_NE(slow->pipeline, fast->pipeline);
}

TEST(JobModelTest, NoPlacementCommunicatesFasterThanTheBest) {
  const hardware::Cluster cluster = TestCluster(16, 4, 4);
  const auto model =
      TestModel(TestJob({.tensor = 4, .pipeline = 2, .data = 4}), cluster);
  const auto best = model->BestCommunication();
  ASSERT_TRUE(best.ok());
  std::mt19937_64 random(7);
  for (int i = 0; i < 20; ++i) {
    const auto other = model->CommunicationOf(RandomNodes(cluster, 8, random));
    ASSERT_TRUE(other.ok());
    for (int s = 0; s < 2; ++s) {
      EXPECT_LE(best->closing[s].network, other->closing[s].network);
    }
    const TimedPipeline& a = model->pipeline(best->pipeline);
    const TimedPipeline& b = model->pipeline(other->pipeline);
    for (size_t k = 0; k < a.size(); ++k) EXPECT_LE(a[k].network, b[k].network);
  }
}

// Lanes of unlike speed: the slow ones alone are the latest less often than
// all would be.
TEST(JobModelTest, SlowLanesAloneCostLessThanAllSlow) {
  hardware::Cluster cluster = FlatCluster(2, 4);
  const auto model = TestModel(TestJob({.tensor = 8}), cluster);
  const double half = model->CellSlowdown(0, 0, std::vector<double>{1, 1.02});
  EXPECT_GT(half, 1.01);
  EXPECT_LT(half, 1.02);
  EXPECT_EQ(model->CellSlowdown(0, 0, std::vector<double>{1.02, 1.02}), 1.02);
}

}  // namespace
}  // namespace prism::placement
