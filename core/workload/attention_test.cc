#include "core/workload/attention.h"

#include <gtest/gtest.h>

#include "core/workload/testing/jobs.h"

namespace prism::workload {
namespace {

using testing::Llama3;

Job Long(ContextKind kind, int64_t context) {
  Job job;
  job.model = Llama3(1, 4096, 32, 14336);
  job.training.sequence = 8192;
  job.parallelism.tensor = 2;
  job.parallelism.context = context;
  job.parallelism.context_kind = kind;
  return job;
}

constexpr double kTokens = 8192.0 / 4;                  // of one rank
constexpr double kQueryBytes = kTokens * 16 * 128 * 2;  // 32 heads over 2
constexpr double kKvBytes = kTokens * 2 * 4 * 128 * 2;  // 8 heads over 2

std::vector<Collective> CollectivesOf(const Stretches& stretches) {
  std::vector<Collective> collectives;
  for (const Stretch& stretch : stretches) {
    if (stretch.then) collectives.push_back(*stretch.then);
  }
  return collectives;
}

class ContextKinds : public ::testing::TestWithParam<ContextKind> {};

TEST_P(ContextKinds, SplitTheWorkEvenly) {
  const double whole = FlopsOf(AttentionForward(Long(GetParam(), 1)));
  for (int64_t context : {2, 4}) {
    const Job job = Long(GetParam(), context);
    EXPECT_DOUBLE_EQ(FlopsOf(AttentionForward(job)),
                     whole / static_cast<double>(context));
    EXPECT_DOUBLE_EQ(FlopsOf(AttentionBackward(job)),
                     2.5 * whole / static_cast<double>(context));
  }
}

// One part of the sequence each: the last of c ranks has c - 1 of the c^2 / 2
// blocks below the diagonal, and half of one on it.
TEST(TorchtitanContextTest, TheLastRankDecides) {
  Job job = Long(ContextKind::kRing, 1);
  job.training.framework = Framework::kTorchtitan;
  const double whole = FlopsOf(AttentionForward(job));
  job.parallelism.context = 4;
  EXPECT_DOUBLE_EQ(FlopsOf(AttentionForward(job)), whole * (3 + 0.5) / 8);
  EXPECT_DOUBLE_EQ(FlopsOf(AttentionBackward(job)), 2.5 * whole * 3.5 / 8);
  job.parallelism.context_kind = ContextKind::kAllToAll;
  EXPECT_DOUBLE_EQ(FlopsOf(AttentionForward(job)), whole / 4);
}

TEST_P(ContextKinds, OneRankExchangesNothing) {
  EXPECT_TRUE(CollectivesOf(AttentionForward(Long(GetParam(), 1))).empty());
  EXPECT_TRUE(CollectivesOf(AttentionBackward(Long(GetParam(), 1))).empty());
}

TEST_P(ContextKinds, MeetTheContextGroup) {
  for (const Stretches& stretches : {AttentionForward(Long(GetParam(), 4)),
                                     AttentionBackward(Long(GetParam(), 4))}) {
    ASSERT_FALSE(CollectivesOf(stretches).empty());
    for (const Collective& c : CollectivesOf(stretches)) {
      EXPECT_EQ(c.group, Group::kContext);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ContextKinds,
                         ::testing::Values(ContextKind::kRing,
                                           ContextKind::kAllGather,
                                           ContextKind::kAllToAll));

TEST(RingTest, PassesKeysAndValuesBesideTheKernels) {
  const Stretches forward = AttentionForward(Long(ContextKind::kRing, 4));
  const auto passes = CollectivesOf(forward);
  ASSERT_EQ(passes.size(), 1u);
  EXPECT_EQ(passes[0].kind, CollectiveKind::kPass);
  EXPECT_TRUE(passes[0].beside);
  EXPECT_EQ(passes[0].steps, 3);
  EXPECT_EQ(passes[0].bytes, kKvBytes);
}

TEST(RingTest, RunsAKernelForEachPartOfTheKeys) {
  const Stretches forward = AttentionForward(Long(ContextKind::kRing, 4));
  const Operator& kernel = forward[1].operators.front();
  EXPECT_EQ(kernel.kernels, 4);
  EXPECT_EQ(kernel.m, kTokens);
  EXPECT_EQ(kernel.n, kTokens);
}

TEST(RingTest, GradientsOfKeysAndValuesGoAllTheWayHome) {
  const auto passes =
      CollectivesOf(AttentionBackward(Long(ContextKind::kRing, 4)));
  ASSERT_EQ(passes.size(), 1u);
  // Three passes of keys and values, four of their gradients.
  EXPECT_DOUBLE_EQ(passes[0].steps * passes[0].bytes, 7 * kKvBytes);
}

TEST(AllGatherTest, GathersKeysAndValuesAndScattersTheirGradients) {
  const Job job = Long(ContextKind::kAllGather, 4);
  const auto forward = CollectivesOf(AttentionForward(job));
  ASSERT_EQ(forward.size(), 1u);
  EXPECT_EQ(forward[0].kind, CollectiveKind::kAllGather);
  EXPECT_EQ(forward[0].bytes, 4 * kKvBytes);
  const auto backward = CollectivesOf(AttentionBackward(job));
  ASSERT_EQ(backward.size(), 2u);
  EXPECT_EQ(backward[1].kind, CollectiveKind::kReduceScatter);
  EXPECT_EQ(backward[1].bytes, 4 * kKvBytes);
}

TEST(AllToAllTest, ExchangesSequencesForHeadsAndBack) {
  const Job job = Long(ContextKind::kAllToAll, 4);
  const auto forward = CollectivesOf(AttentionForward(job));
  ASSERT_EQ(forward.size(), 2u);
  EXPECT_EQ(forward[0].bytes, kQueryBytes + kKvBytes);
  EXPECT_EQ(forward[1].bytes, kQueryBytes);
  const auto backward = CollectivesOf(AttentionBackward(job));
  ASSERT_EQ(backward.size(), 2u);
  EXPECT_EQ(backward[0].bytes, kQueryBytes);
  EXPECT_EQ(backward[1].bytes, kQueryBytes + kKvBytes);
}

TEST(AllToAllTest, AttendsToWholeSequencesWithFewerHeads) {
  const Stretches forward = AttentionForward(Long(ContextKind::kAllToAll, 4));
  const Operator& kernel = forward[1].operators.front();
  EXPECT_EQ(kernel.m, 8192);
  EXPECT_EQ(kernel.n, 8192);
  EXPECT_EQ(kernel.batch, 4);
}

TEST(UnfusedTest, WithoutDropoutTheScoresAreMovedLess) {
  Job job = testing::Gpt22B();
  const auto bytes = [&job] {
    double sum = 0;
    const Stretches stretches = AttentionForward(job);
    for (const Operator& op : stretches.front().operators) {
      sum += op.bytes;
    }
    return sum;
  };
  const double with = bytes();
  job.training.dropout = false;
  const double scores = 4.0 * 64 / 8 * 2048 * 2048;
  EXPECT_DOUBLE_EQ(with - bytes(), 5 * scores);
}

}  // namespace
}  // namespace prism::workload
