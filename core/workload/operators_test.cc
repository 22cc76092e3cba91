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
  // Softmax reads half of them and writes all; dropout reads and writes them,
  // and its mask.
  EXPECT_GE(unfused - MemoryBytes(LayerForward(job)), 8 * scores);
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

int64_t ProductsOf(const Stretches& stretches) {
  int64_t count = 0;
  for (const Stretch& stretch : stretches) {
    for (const Operator& op : stretch.operators) {
      count += op.kind == OperatorKind::kMatrixProduct;
    }
  }
  return count;
}

Job LlamaOf(Framework framework) {
  Job job;
  job.model = Llama3(1, 4096, 32, 14336);
  job.training.sequence = 8192;
  job.training.framework = framework;
  job.training.dropout = false;
  return job;
}

TEST(FrameworkTest, TorchtitanHasAMatrixForEachOutput) {
  const Job fused = LlamaOf(Framework::kMegatronCore);
  const Job apart = LlamaOf(Framework::kTorchtitan);
  EXPECT_EQ(ProductsOf(LayerForward(fused)), 4);
  EXPECT_EQ(ProductsOf(LayerForward(apart)), 7);
  EXPECT_DOUBLE_EQ(FlopsOf(LayerForward(fused)), FlopsOf(LayerForward(apart)));
  EXPECT_DOUBLE_EQ(FlopsOf(LayerBackward(fused)),
                   FlopsOf(LayerBackward(apart)));
}

TEST(FrameworkTest, TorchtitanComputesEveryOtherProductAgain) {
  const Job job = LlamaOf(Framework::kTorchtitan);
  const double tokens = 8192;
  // Keys, the attention's output, and one of two feed-forward inputs.
  EXPECT_DOUBLE_EQ(RecomputedFlops(LayerBackward(job, Recompute::kSelective)),
                   2 * tokens * 4096 * (8 * 128 + 4096 + 14336));
}

TEST(FrameworkTest, OnlyMegatronLmSumsGradientsByAKernelOfItsOwn) {
  Job job = LlamaOf(Framework::kMegatronCore);
  const double one = MemoryBytes(LayerBackward(job));
  job.training.global_batch = 8;
  EXPECT_EQ(MemoryBytes(LayerBackward(job)), one);
}

TEST(FrameworkTest, TransformerEngineGathersWhatItHasRounded) {
  Job job = LlamaOf(Framework::kMegatronCore);
  job.parallelism.tensor = 8;
  job.parallelism.sequence_parallel = true;
  const double wide = CollectivesOf(LayerForward(job)).front().bytes;
  job.training.precision = Precision::kFp8;
  EXPECT_EQ(CollectivesOf(LayerForward(job)).front().bytes, wide / 2);
  EXPECT_EQ(CollectivesOf(HeadForward(job)).front().bytes, wide);
}

TEST(LayerTest, EachLayerMayBeComputedAgainOrNot) {
  const Job job = Gpt22B(Recompute::kFull);
  EXPECT_EQ(RecomputedFlops(LayerBackward(job, Recompute::kNone)), 0);
  EXPECT_DOUBLE_EQ(FlopsOf(LayerBackward(job, Recompute::kNone)),
                   2 * FlopsOf(LayerForward(job)));
}

TEST(LayerTest, ContextGroupDividesTheWork) {
  Job job = LlamaOf(Framework::kMegatronCore);
  const double forward = FlopsOf(LayerForward(job));
  const double backward = FlopsOf(LayerBackward(job));
  for (const ContextKind kind :
       {ContextKind::kRing, ContextKind::kAllGather, ContextKind::kAllToAll}) {
    job.parallelism.context = 4;
    job.parallelism.context_kind = kind;
    EXPECT_DOUBLE_EQ(FlopsOf(LayerForward(job)), forward / 4);
    EXPECT_DOUBLE_EQ(FlopsOf(LayerBackward(job)), backward / 4);
  }
}

TEST(HeadTest, AFusedLossMovesTheLogitsLeast) {
  Job job = LlamaOf(Framework::kTorchtitan);
  const auto bytes = [&job] {
    return MemoryBytes(HeadForward(job)) + MemoryBytes(HeadBackward(job));
  };
  const double unfused = bytes();
  job.training.fused_cross_entropy = true;
  EXPECT_LT(bytes(), unfused / 2);
}

TEST(HeadTest, CountsTheLogits) {
  const Job job = Gpt22B();
  EXPECT_DOUBLE_EQ(FlopsOf(HeadForward(job)), 2.0 * 8192 * 6144 * 51200 / 8);
  EXPECT_DOUBLE_EQ(FlopsOf(HeadBackward(job)), 2 * FlopsOf(HeadForward(job)));
}

TEST(BoundaryTest, ContextRanksSendTheirPartOfTheSequence) {
  Job job = Gpt22B();
  job.parallelism.tensor = 1;
  const double whole = StageBoundary(job).sent_bytes;
  job.parallelism.context = 4;
  EXPECT_EQ(StageBoundary(job).sent_bytes, whole / 4);
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

TEST(OptimizerTest, ShardsAloneAreTouchedByLaterFrameworks) {
  const Job job = LlamaOf(Framework::kMegatronCore);
  const double all = OptimizerUpdate(job, 1e9, 1e9).front().bytes;
  EXPECT_EQ(OptimizerUpdate(job, 1e9, 1e9 / 8).front().bytes, all / 8);
}

TEST(OptimizerTest, OffloadedGradientsGoOutAndWeightsComeBack) {
  Job job = LlamaOf(Framework::kMegatronCore);
  job.training.fp32_gradients = true;
  const OffloadBytes bytes = OffloadTraffic(job, 1e9);
  EXPECT_EQ(bytes.to_host, 4e9);
  EXPECT_EQ(bytes.from_host, 2e9);
  EXPECT_GT(bytes.host_memory, 28e9);
}

}  // namespace
}  // namespace prism::workload
