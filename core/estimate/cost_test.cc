#include "core/estimate/cost.h"

#include <gtest/gtest.h>

#include "core/workload/testing/jobs.h"

namespace prism::estimate {
namespace {

using workload::CollectiveKind;
using workload::Job;
using workload::Operator;
using workload::OperatorKind;

hardware::Cluster DgxA100(int64_t nodes) {
  hardware::Cluster cluster;
  cluster.accelerator = "a100-80gb-sxm";
  cluster.nodes = nodes;
  return cluster;
}

// 2 replicas of 2 stages of `tensor` GPUs.
Job SmallJob(int64_t tensor) {
  Job job;
  job.model = workload::testing::Gpt(8, 2048, 16);
  job.parallelism.tensor = tensor;
  job.parallelism.pipeline = 2;
  job.parallelism.data = 2;
  job.training =
      workload::testing::MegatronTraining(8, 1, workload::Recompute::kNone);
  return job;
}

Cost CostOf(const Job& job, const hardware::Cluster& cluster,
            const Placement& placement = {}) {
  return Cost(job, cluster, ShapeOf(job, cluster, placement));
}

hardware::LinkTime Reduced(const Cost& cost, double bytes, int64_t stage) {
  return cost.CollectiveTime({.kind = CollectiveKind::kAllReduce,
                              .bytes = bytes,
                              .group = workload::Group::kData},
                             stage);
}

TEST(CostTest, OperatorsAddUp) {
  const Cost cost = CostOf(SmallJob(8), DgxA100(4));
  const Operator copy = {.kind = OperatorKind::kMemory, .bytes = 1e9};
  const Operator product = {.kind = OperatorKind::kMatrixProduct,
                            .m = 4096,
                            .n = 4096,
                            .k = 4096,
                            .flops = 2.0 * 4096 * 4096 * 4096};
  const double one = *cost.OperatorSeconds({copy});
  const double other = *cost.OperatorSeconds({product});
  EXPECT_DOUBLE_EQ(*cost.OperatorSeconds({copy, product}), one + other);
}

TEST(CostTest, WorkBelowItsFloorIsInternal) {
  const Cost cost = CostOf(SmallJob(8), DgxA100(4));
  // Says it does a thousand times the work of its shape.
  const Operator impossible = {.kind = OperatorKind::kMatrixProduct,
                               .m = 4096,
                               .n = 4096,
                               .k = 4096,
                               .flops = 2000.0 * 4096 * 4096 * 4096};
  const auto seconds = cost.OperatorSeconds({impossible});
  EXPECT_EQ(seconds.status().code(), absl::StatusCode::kInternal);
}

TEST(CostTest, FusedAttentionBackwardTakesItsOwnRate) {
  const Cost cost = CostOf(SmallJob(8), DgxA100(4));
  Operator attention = {.kind = OperatorKind::kFusedAttention,
                        .m = 2048,
                        .n = 2048,
                        .k = 128,
                        .flops = 1e12};
  const double forward = *cost.OperatorSeconds({attention});
  attention.kind = OperatorKind::kFusedAttentionBackward;
  EXPECT_GT(*cost.OperatorSeconds({attention}), forward);
}

TEST(CostTest, TensorGroupAcrossNodesIsSlower) {
  const workload::Collective reduce = {CollectiveKind::kAllReduce, 1e8};
  const Cost inside = CostOf(SmallJob(8), DgxA100(4));
  const Cost across = CostOf(SmallJob(16), DgxA100(8));
  EXPECT_GT(across.CollectiveTime(reduce).seconds,
            1.2 * inside.CollectiveTime(reduce).seconds);
}

TEST(CostTest, DataGroupInsideANodeIsFaster) {
  const Cost near = CostOf(SmallJob(1), DgxA100(1));
  const Cost far = CostOf(SmallJob(8), DgxA100(4));
  EXPECT_LT(3 * Reduced(near, 1e9, 0).seconds, Reduced(far, 1e9, 0).seconds);
}

TEST(CostTest, BoundaryOfAnInterleavedLastStageLeadsToTheFirst) {
  Job job = SmallJob(8);
  job.parallelism.virtual_stages = 2;
  job.parallelism.schedule = workload::Schedule::kInterleaved;
  const Cost cost = CostOf(job, DgxA100(4));
  EXPECT_EQ(cost.BoundaryTime(1).seconds, cost.BoundaryTime(0).seconds);
  EXPECT_GT(cost.BoundaryTime(0).seconds, 0);
}

TEST(CostTest, SequenceParallelBoundaryGathersNothing) {
  Job job = SmallJob(8);
  const double gathered = CostOf(job, DgxA100(4)).BoundaryTime(0).seconds;
  job.parallelism.sequence_parallel = true;
  EXPECT_LT(CostOf(job, DgxA100(4)).BoundaryTime(0).seconds, gathered);
}

TEST(CostTest, PlacementAcrossLeavesIsSlower) {
  hardware::Cluster cluster = DgxA100(4);
  cluster.fabric = {{"node", 8, 300e9, 1e-6, 1},
                    {"leaf", 16, 25e9, 5e-6, 1},
                    {"spine", 32, 25e9, 5e-6, 4}};
  // Data groups of stage 0 are launched on the first two nodes.
  const Cost together = CostOf(SmallJob(8), cluster, {.nodes = {0, 1, 2, 3}});
  const Cost apart = CostOf(SmallJob(8), cluster, {.nodes = {0, 2, 1, 3}});
  EXPECT_GT(Reduced(apart, 1e9, 0).seconds,
            2 * Reduced(together, 1e9, 0).seconds);
}

TEST(CostTest, TiedCopiesMeetOverTheLinksOfTheirStages) {
  const Cost near = CostOf(SmallJob(1), DgxA100(1));
  const Cost far = CostOf(SmallJob(8), DgxA100(4));
  EXPECT_LT(near.TiedCopyTime(1e8).seconds, far.TiedCopyTime(1e8).seconds);
}

TEST(CostTest, ASlowPathSlowsWhatGoesOverIt) {
  const Job job = SmallJob(8);
  hardware::Cluster cluster = DgxA100(4);
  const Cost plain = CostOf(job, cluster);
  const auto reduced = [](const Cost& cost, int64_t stage) {
    return Reduced(cost, 1e8, stage);
  };
  // Nodes 0 and 1 hold the replicas of stage 0, 2 and 3 those of stage 1.
  cluster.path_states = {{.from = 0, .to = 1, .slowdown = 1.5}};
  const Cost group = CostOf(job, cluster);
  EXPECT_DOUBLE_EQ(reduced(group, 0).seconds, 1.5 * reduced(plain, 0).seconds);
  EXPECT_DOUBLE_EQ(reduced(group, 0).latency_seconds,
                   1.5 * reduced(plain, 0).latency_seconds);
  EXPECT_EQ(reduced(group, 1).seconds, reduced(plain, 1).seconds);
  EXPECT_EQ(group.BoundaryTime(0).seconds, plain.BoundaryTime(0).seconds);
  cluster.path_states = {{.from = 1, .to = 3, .slowdown = 1.5}};
  const Cost hop = CostOf(job, cluster);
  EXPECT_GT(hop.BoundaryTime(0).seconds, 1.2 * plain.BoundaryTime(0).seconds);
  EXPECT_DOUBLE_EQ(hop.TiedCopyTime(1e8).seconds,
                   1.5 * plain.TiedCopyTime(1e8).seconds);
  EXPECT_EQ(reduced(hop, 0).seconds, reduced(plain, 0).seconds);
}

}  // namespace
}  // namespace prism::estimate
