#include "core/estimate/cost.h"

#include <gtest/gtest.h>

#include "core/workload/testing/jobs.h"

namespace prism::estimate {
namespace {

using hardware::CollectiveKind;
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

TEST(CostTest, OperatorsAddUp) {
  const Cost cost(SmallJob(8), DgxA100(4), {});
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
  const Cost cost(SmallJob(8), DgxA100(4), {});
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
  const Cost cost(SmallJob(8), DgxA100(4), {});
  Operator attention = {.kind = OperatorKind::kFusedAttention, .flops = 1e12};
  const double forward = *cost.OperatorSeconds({attention});
  attention.kind = OperatorKind::kFusedAttentionBackward;
  EXPECT_GT(*cost.OperatorSeconds({attention}), forward);
}

TEST(CostTest, TensorGroupAcrossNodesIsSlower) {
  const workload::Collective reduce = {workload::CollectiveKind::kAllReduce,
                                       1e8};
  const Cost inside(SmallJob(8), DgxA100(4), {});
  const Cost across(SmallJob(16), DgxA100(8), {});
  EXPECT_GT(across.TensorTime(reduce).seconds,
            1.2 * inside.TensorTime(reduce).seconds);
}

TEST(CostTest, DataGroupInsideANodeIsFaster) {
  const Cost near(SmallJob(1), DgxA100(1), {});
  const Cost far(SmallJob(8), DgxA100(4), {});
  EXPECT_LT(3 * near.DataTime(CollectiveKind::kAllReduce, 1e9, 0).seconds,
            far.DataTime(CollectiveKind::kAllReduce, 1e9, 0).seconds);
}

TEST(CostTest, BoundaryOfTheLastStageLeadsToTheFirst) {
  const Cost cost(SmallJob(8), DgxA100(4), {});
  EXPECT_EQ(cost.BoundaryTime(1).seconds, cost.BoundaryTime(0).seconds);
  EXPECT_GT(cost.BoundaryTime(0).seconds, 0);
}

TEST(CostTest, SequenceParallelBoundaryGathersNothing) {
  Job job = SmallJob(8);
  const double gathered = Cost(job, DgxA100(4), {}).BoundaryTime(0).seconds;
  job.parallelism.sequence_parallel = true;
  EXPECT_LT(Cost(job, DgxA100(4), {}).BoundaryTime(0).seconds, gathered);
}

TEST(CostTest, PlacementAcrossLeavesIsSlower) {
  hardware::Cluster cluster = DgxA100(4);
  cluster.fabric = {{"node", 8, 300e9, 1e-6, 1},
                    {"leaf", 16, 25e9, 5e-6, 1},
                    {"spine", 32, 25e9, 5e-6, 4}};
  // Data groups of stage 0 are launched on the first two nodes.
  const Cost together(SmallJob(8), cluster, {.nodes = {0, 1, 2, 3}});
  const Cost apart(SmallJob(8), cluster, {.nodes = {0, 2, 1, 3}});
  EXPECT_GT(apart.DataTime(CollectiveKind::kAllReduce, 1e9, 0).seconds,
            2 * together.DataTime(CollectiveKind::kAllReduce, 1e9, 0).seconds);
}

TEST(CostTest, TiedCopiesMeetOverTheLinksOfTheirStages) {
  const Cost near(SmallJob(1), DgxA100(1), {});
  const Cost far(SmallJob(8), DgxA100(4), {});
  EXPECT_LT(near.TiedCopyTime(1e8).seconds, far.TiedCopyTime(1e8).seconds);
}

}  // namespace
}  // namespace prism::estimate
