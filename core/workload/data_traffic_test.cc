#include "core/workload/data_traffic.h"

#include <gtest/gtest.h>

#include "core/workload/testing/jobs.h"

namespace prism::workload {
namespace {

using testing::Gpt22B;

constexpr double kParameters = 1e9;

Job OnRanks(int64_t ranks, Sharding sharding, int64_t shard_group = 0) {
  Job job = Gpt22B();
  job.parallelism.data = ranks;
  job.parallelism.sharding = sharding;
  job.parallelism.shard_group = shard_group;
  job.training.global_batch = 4 * ranks;
  return job;
}

// Bytes that one rank of `ranks` sends, by rings.
double Sent(const std::vector<Collective>& collectives, double ranks) {
  double bytes = 0;
  for (const Collective& c : collectives) {
    const double passes = c.kind == CollectiveKind::kAllReduce ? 2 : 1;
    bytes += passes * (ranks - 1) / ranks * c.bytes;
  }
  return bytes;
}

double SentInAStep(const Job& job) {
  const auto ranks = static_cast<double>(job.parallelism.gradient_ranks());
  const TrafficAround backward = BackwardTraffic(job, kParameters);
  const TrafficAround closing = ClosingTraffic(job, kParameters);
  return Sent(ForwardTraffic(job, kParameters), ranks) +
         Sent(backward.before, ranks) + Sent(backward.after, ranks) +
         Sent(closing.before, ranks) + Sent(closing.after, ranks);
}

struct VolumeCase {
  Sharding sharding;
  double times_plain;
};

class VolumeTest : public ::testing::TestWithParam<VolumeCase> {};

// arXiv 1910.02054, section 7.
TEST_P(VolumeTest, IsThePublishedMultipleOfPlainTraffic) {
  for (int64_t ranks : {2, 8, 64}) {
    const double plain = SentInAStep(OnRanks(ranks, Sharding::kNone));
    EXPECT_DOUBLE_EQ(SentInAStep(OnRanks(ranks, GetParam().sharding)),
                     GetParam().times_plain * plain);
  }
}

INSTANTIATE_TEST_SUITE_P(Shardings, VolumeTest,
                         ::testing::Values(VolumeCase{Sharding::kNone, 1},
                                           VolumeCase{Sharding::kZero1, 1},
                                           VolumeCase{Sharding::kZero2, 1},
                                           VolumeCase{Sharding::kZero3, 1.5}));

TEST(DataTrafficTest, PlainTrafficIsOneSumOfAllGradients) {
  const auto closing = ClosingTraffic(OnRanks(8, Sharding::kNone), kParameters);
  ASSERT_EQ(closing.before.size(), 1u);
  EXPECT_EQ(closing.before[0].kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(closing.before[0].group, Group::kData);
  EXPECT_EQ(closing.before[0].bytes, 2 * kParameters);
  EXPECT_TRUE(closing.after.empty());
}

TEST(DataTrafficTest, GradientsIn32BitAreTwiceAsLong) {
  Job job = OnRanks(8, Sharding::kZero1);
  job.training.fp32_gradients = true;
  const auto closing = ClosingTraffic(job, kParameters);
  ASSERT_EQ(closing.before.size(), 1u);
  EXPECT_EQ(closing.before[0].bytes, 4 * kParameters);
  ASSERT_EQ(closing.after.size(), 1u);
  EXPECT_EQ(closing.after[0].bytes, 2 * kParameters);
}

TEST(DataTrafficTest, StagesOfAPipelineReduceOnceAStep) {
  Job job = OnRanks(8, Sharding::kZero2);
  EXPECT_EQ(BackwardTraffic(job, kParameters).after.size(), 1u);
  EXPECT_TRUE(ClosingTraffic(job, kParameters).before.empty());
  job.parallelism.pipeline = 2;
  EXPECT_TRUE(BackwardTraffic(job, kParameters).after.empty());
  EXPECT_EQ(ClosingTraffic(job, kParameters).before.size(), 1u);
  EXPECT_EQ(ClosingTraffic(job, kParameters).after.size(), 1u);
}

TEST(DataTrafficTest, TransformerEngineGathersWeightsIn8Bit) {
  Job job = OnRanks(8, Sharding::kZero1);
  job.training.precision = Precision::kFp8;
  const auto gathered = [&job] {
    return ClosingTraffic(job, kParameters).after.at(0).bytes;
  };
  EXPECT_EQ(gathered(), 2 * kParameters);
  job.training.framework = Framework::kMegatronCore;
  EXPECT_EQ(gathered(), kParameters);
  job.training.precision = Precision::kFp4;
  EXPECT_EQ(gathered(), 2 * kParameters);
}

TEST(DataTrafficTest, ContextRanksReduceGradientsToo) {
  Job job = OnRanks(1, Sharding::kNone);
  EXPECT_TRUE(ClosingTraffic(job, kParameters).before.empty());
  job.parallelism.context = 4;
  EXPECT_EQ(ClosingTraffic(job, kParameters).before.size(), 1u);
}

TEST(DataTrafficTest, CopiesOfAShardAreReducedBetweenThem) {
  const Job job = OnRanks(16, Sharding::kZero3, 4);
  const auto backward = BackwardTraffic(job, kParameters);
  ASSERT_EQ(backward.before.size(), 1u);
  EXPECT_EQ(backward.before[0].group, Group::kShard);
  ASSERT_EQ(backward.after.size(), 2u);
  EXPECT_EQ(backward.after[0].kind, CollectiveKind::kReduceScatter);
  EXPECT_EQ(backward.after[0].group, Group::kShard);
  EXPECT_EQ(backward.after[1].kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(backward.after[1].group, Group::kShardCopies);
  EXPECT_EQ(backward.after[1].bytes, 2 * kParameters / 4);
}

TEST(DataTrafficTest, APipelineGathersFullyShardedWeightsOnceAStep) {
  Job job = OnRanks(8, Sharding::kZero3);
  job.parallelism.pipeline = 2;
  EXPECT_TRUE(ForwardTraffic(job, kParameters).empty());
  EXPECT_TRUE(BackwardTraffic(job, kParameters).before.empty());
  EXPECT_TRUE(BackwardTraffic(job, kParameters).after.empty());
  const auto closing = ClosingTraffic(job, kParameters);
  ASSERT_EQ(closing.before.size(), 1u);
  EXPECT_EQ(closing.before[0].kind, CollectiveKind::kReduceScatter);
  ASSERT_EQ(closing.after.size(), 1u);
  EXPECT_EQ(closing.after[0].kind, CollectiveKind::kAllGather);
}

TEST(DataTrafficTest, EachRankOwnsItsShard) {
  EXPECT_EQ(OwnedParameters(OnRanks(16, Sharding::kNone), 32), 32);
  EXPECT_EQ(OwnedParameters(OnRanks(16, Sharding::kZero1), 32), 2);
  EXPECT_EQ(OwnedParameters(OnRanks(16, Sharding::kZero3, 4), 32), 8);
}

}  // namespace
}  // namespace prism::workload
