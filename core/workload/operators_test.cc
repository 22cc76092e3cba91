#include "core/workload/operators.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/workload/testing/jobs.h"

namespace prism::workload {
namespace {

using testing::Gpt22B;
using testing::Llama3;

std::vector<Collective> CollectivesOf(const Stretches& stretches) {
  std::vector<Collective> collectives;
  for (const Stretch& stretch : stretches) {
    if (stretch.then) collectives.push_back(*stretch.then);
  }
  return collectives;
}

int64_t CountOf(const Stretches& stretches, CollectiveKind kind) {
  const std::vector<Collective> all = CollectivesOf(stretches);
  return std::count_if(all.begin(), all.end(),
                       [kind](const Collective& c) { return c.kind == kind; });
}

double RecomputedFlops(const Stretches& stretches) {
  Stretches again;
  for (const Stretch& stretch : stretches) {
    if (stretch.recompute) again.push_back(stretch);
  }
  return FlopsOf(again);
}

double MemoryBytes(const Stretches& stretches) {
  double bytes = 0;
  for (const Stretch& stretch : stretches) {
    for (const Operator& op : stretch.operators) bytes += op.bytes;
  }
  return bytes;
}

TEST(LayerTest, TensorGroupReducesTwiceForwardAndTwiceBackward) {
  const Job job = Gpt22B();
  EXPECT_EQ(CountOf(LayerForward(job), CollectiveKind::kAllReduce), 2);
  EXPECT_EQ(CountOf(LayerBackward(job), CollectiveKind::kAllReduce), 2);
}

TEST(LayerTest, ReducedVectorIsOneActivation) {
  for (const Collective& c : CollectivesOf(LayerForward(Gpt22B()))) {
    EXPECT_EQ(c.bytes, 2.0 * 4 * 2048 * 6144);
  }
}

TEST(LayerTest, SequenceParallelismGathersAndScattersInstead) {
  Job job = Gpt22B();
  job.parallelism.sequence_parallel = true;
  const Stretches forward = LayerForward(job);
  EXPECT_EQ(CountOf(forward, CollectiveKind::kAllReduce), 0);
  EXPECT_EQ(CountOf(forward, CollectiveKind::kAllGather), 2);
  EXPECT_EQ(CountOf(forward, CollectiveKind::kReduceScatter), 2);
  const Stretches backward = LayerBackward(job);
  EXPECT_EQ(CountOf(backward, CollectiveKind::kAllGather), 4);
  EXPECT_EQ(CountOf(backward, CollectiveKind::kReduceScatter), 2);
}

TEST(LayerTest, OneGpuMeetsNobody) {
  Job job = Gpt22B();
  job.parallelism.tensor = 1;
  job.parallelism.sequence_parallel = true;
  EXPECT_TRUE(CollectivesOf(LayerForward(job)).empty());
  EXPECT_TRUE(CollectivesOf(LayerBackward(job)).empty());
}

TEST(LayerTest, BackwardIsTwiceForward) {
  const Job job = Gpt22B();
  EXPECT_DOUBLE_EQ(FlopsOf(LayerBackward(job)), 2 * FlopsOf(LayerForward(job)));
}

TEST(LayerTest, FullRecomputationRepeatsTheForwardWithItsCollectives) {
  const Job job = Gpt22B(Recompute::kFull);
  EXPECT_DOUBLE_EQ(RecomputedFlops(LayerBackward(job)),
                   FlopsOf(LayerForward(job)));
  EXPECT_EQ(CountOf(LayerBackward(job), CollectiveKind::kAllReduce), 4);
}

TEST(LayerTest, SelectiveRecomputationOfFlashAttentionIsItsOwnBackward) {
  Job job = Gpt22B(Recompute::kSelective);
  job.training.attention = Attention::kFlash;
  EXPECT_EQ(RecomputedFlops(LayerBackward(job)), 0);
}

TEST(LayerTest, TensorGroupDividesTheWork) {
  Job job = Gpt22B();
  const double eighth = FlopsOf(LayerForward(job));
  job.parallelism.tensor = 1;
  EXPECT_DOUBLE_EQ(FlopsOf(LayerForward(job)), 8 * eighth);
}

TEST(LayerTest, GroupsBeyondTheKeyValueHeadsHoldCopiesOfThem) {
  Job job;
  job.model = Llama3(1, 4096, 32, 14336);
  job.training.sequence = 1024;
  job.parallelism.tensor = 8;
  const double eight = FlopsOf(LayerForward(job));
  job.parallelism.tensor = 16;
  EXPECT_GT(FlopsOf(LayerForward(job)), eight / 2);
}

TEST(LayerTest, UnfusedAttentionMovesTheScores) {
  Job job = Gpt22B();
  const double unfused = MemoryBytes(LayerForward(job));
  job.training.attention = Attention::kFlash;
  const double scores = 4.0 * 64 / 8 * 2048 * 2048;
  // Softmax reads and writes them; dropout as well, and its mask.
  EXPECT_GE(unfused - MemoryBytes(LayerForward(job)), 9 * scores);
}

TEST(LayerTest, SequenceParallelismSavesMemoryTraffic) {
  Job job = Gpt22B();
  const double whole = MemoryBytes(LayerForward(job));
  job.parallelism.sequence_parallel = true;
  EXPECT_LT(MemoryBytes(LayerForward(job)), whole);
}

TEST(LayerTest, SeveralMicrobatchesAccumulateGradients) {
  Job job = Gpt22B();
  const double one = MemoryBytes(LayerBackward(job));
  job.training.global_batch = 8;
  // Every weight of the products: gradient read and written, product read.
  EXPECT_DOUBLE_EQ(MemoryBytes(LayerBackward(job)) - one,
                   6 * 12.0 * 6144 * 6144 / 8);
}

TEST(HeadTest, CountsTheLogits) {
  const Job job = Gpt22B();
  EXPECT_DOUBLE_EQ(FlopsOf(HeadForward(job)), 2.0 * 8192 * 6144 * 51200 / 8);
  EXPECT_DOUBLE_EQ(FlopsOf(HeadBackward(job)), 2 * FlopsOf(HeadForward(job)));
}

TEST(BoundaryTest, TensorGroupSendsInSharesAndGathers) {
  const BoundaryTraffic traffic = StageBoundary(Gpt22B());
  EXPECT_EQ(traffic.sent_bytes, 2.0 * 8192 * 6144 / 8);
  EXPECT_EQ(traffic.gathered_bytes, 2.0 * 8192 * 6144);
}

TEST(BoundaryTest, SequenceParallelismKeepsShares) {
  Job job = Gpt22B();
  job.parallelism.sequence_parallel = true;
  EXPECT_EQ(StageBoundary(job).gathered_bytes, 0);
}

TEST(OptimizerTest, OwnedShareDecidesMostOfTheTraffic) {
  const Job job = Gpt22B();
  const double all = OptimizerUpdate(job, 1e9, 1e9).front().bytes;
  const double eighth = OptimizerUpdate(job, 1e9, 1e9 / 8).front().bytes;
  EXPECT_LT(eighth, all / 3);
  EXPECT_GT(eighth, all / 8);
}

}  // namespace
}  // namespace prism::workload
