#include "core/estimate/memory_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/workload/testing/jobs.h"

namespace prism::estimate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using workload::Attention;
using workload::ContextKind;
using workload::Job;
using workload::Recompute;
using workload::Sharding;
using workload::testing::Gpt22B;

TEST(FitTest, ComparesWithTheCapacityAndTheModelsError) {
  EXPECT_EQ(FitOf(90, 100), MemoryFit::kFits);
  EXPECT_EQ(FitOf(96, 100), MemoryFit::kTight);
  EXPECT_EQ(FitOf(100, 100), MemoryFit::kTight);
  EXPECT_EQ(FitOf(101, 100), MemoryFit::kDoesNotFit);
}

// Capacity that a job would just fit into without being tight.
double RoomFor(const Job& job) {
  return PeakMemory(job).total() * (1 + kMemoryError) + 1;
}

TEST(AdviceTest, NamesTheMildestChangeThatIsEnough) {
  const Job job = Gpt22B();
  Job mild = job;
  mild.parallelism.sequence_parallel = true;
  EXPECT_EQ(MemoryAdvice(job, RoomFor(mild)),
            "set parallelism.sequence_parallel");
  EXPECT_EQ(MemoryAdvice(job, PeakMemory(mild).total()),
            "reduce training.micro_batch to 1");
  mild = job;
  mild.training.micro_batch = 1;
  EXPECT_EQ(MemoryAdvice(job, RoomFor(mild)),
            "reduce training.micro_batch to 1");
}

TEST(AdviceTest, RecomputesWhereThatIsLeft) {
  Job job = Gpt22B(Recompute::kSelective);
  job.parallelism.sequence_parallel = true;
  job.training.micro_batch = 1;
  job.training.attention = Attention::kFlash;
  Job full = job;
  full.training.recompute = Recompute::kFull;
  EXPECT_EQ(MemoryAdvice(job, RoomFor(full)), "set training.recompute to full");
}

TEST(AdviceTest, SplitsFurtherOnAsManyGpus) {
  Job job = Gpt22B(Recompute::kFull);
  job.parallelism.sequence_parallel = true;
  job.parallelism.data = 4;
  job.parallelism.sharding = Sharding::kZero3;
  job.training.micro_batch = 1;
  job.training.fp32_gradients = true;
  job.parallelism.sharding = Sharding::kZero1;
  Job wide = job;
  wide.parallelism.tensor = 16;
  wide.parallelism.data = 2;
  EXPECT_EQ(MemoryAdvice(job, RoomFor(wide)), "raise parallelism.tensor to 16");
}

TEST(AdviceTest, FirstTakesWhatCostsNoTime) {
  Job job = Gpt22B(Recompute::kFull);
  job.parallelism.data = 4;
  job.training.micro_batch = 1;
  Job wide = job;
  wide.parallelism.sequence_parallel = true;
  wide.parallelism.sharding = Sharding::kZero1;
  wide.parallelism.tensor = 16;
  wide.parallelism.data = 2;
  EXPECT_EQ(MemoryAdvice(job, RoomFor(wide)),
            "set parallelism.sequence_parallel and set parallelism.sharding to "
            "zero1 and raise parallelism.tensor to 16");
}

TEST(AdviceTest, LeavesOutWhatTheJobCannotDo) {
  Job job = Gpt22B(Recompute::kFull);
  job.parallelism.data = 4;
  job.training.global_batch = 16;
  job.parallelism.context = 8;
  job.parallelism.context_kind = ContextKind::kAllToAll;  // of 64 heads
  EXPECT_THAT(MemoryAdvice(job, 1e9), Not(HasSubstr("tensor to")));
  job.parallelism.context_kind = ContextKind::kRing;
  EXPECT_THAT(MemoryAdvice(job, 1e9), HasSubstr("tensor to 16"));
}

TEST(AdviceTest, ListsWhatHelpsWhereNothingIsEnough) {
  const std::string advice = MemoryAdvice(Gpt22B(), 1e9);
  EXPECT_THAT(advice, HasSubstr("no single change is enough"));
  EXPECT_THAT(advice, HasSubstr("set parallelism.sequence_parallel"));
  EXPECT_THAT(advice, HasSubstr("more GPUs"));
}

}  // namespace
}  // namespace prism::estimate
