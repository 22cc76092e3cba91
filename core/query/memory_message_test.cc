#include "core/query/memory_message.h"

#include <gtest/gtest.h>

#include "core/estimate/memory.h"
#include "core/workload/testing/jobs.h"

namespace prism::query {
namespace {

workload::Job OnTwoStages() {
  workload::Job job = workload::testing::Gpt22B();
  job.parallelism.pipeline = 2;
  return job;
}

TEST(MemoryMessage, HoldsEveryStageAndTheFullest) {
  const workload::Job job = OnTwoStages();
  const prism::v1::Memory memory = MemoryMessage(job, 1e12);
  ASSERT_EQ(memory.stages_size(), 2);
  for (int64_t stage = 0; stage < 2; ++stage) {
    const auto& message = memory.stages(static_cast<int>(stage));
    EXPECT_EQ(message.stage(), stage);
    EXPECT_EQ(message.peak_bytes_per_gpu(),
              estimate::StageMemory(job, stage).total());
    EXPECT_LE(message.peak_bytes_per_gpu(), memory.peak_bytes_per_gpu());
  }
  EXPECT_EQ(memory.peak_bytes_per_gpu(), estimate::PeakMemory(job).total());
  EXPECT_EQ(memory.allocated_bytes_per_gpu(),
            estimate::PeakMemory(job).allocated());
}

TEST(MemoryMessage, PartsSumToThePeak) {
  const prism::v1::Memory memory = MemoryMessage(OnTwoStages(), 1e12);
  double sum = 0;
  for (const auto& part : memory.parts()) sum += part.bytes();
  EXPECT_DOUBLE_EQ(sum, memory.peak_bytes_per_gpu());
}

TEST(MemoryMessage, SaysWhetherAndHowTheJobFits) {
  const workload::Job job = OnTwoStages();
  const double need = estimate::PeakMemory(job).total();
  const auto roomy = MemoryMessage(job, 2 * need);
  EXPECT_EQ(roomy.fit(), prism::v1::MEMORY_FIT_FITS);
  EXPECT_EQ(roomy.margin_bytes_per_gpu(), need);
  EXPECT_EQ(roomy.advice(), "");
  const auto tight = MemoryMessage(job, 1.01 * need);
  EXPECT_EQ(tight.fit(), prism::v1::MEMORY_FIT_TIGHT);
  EXPECT_NE(tight.advice(), "");
  const auto small = MemoryMessage(job, need / 2);
  EXPECT_EQ(small.fit(), prism::v1::MEMORY_FIT_DOES_NOT_FIT);
  EXPECT_EQ(small.margin_bytes_per_gpu(), -need / 2);
  EXPECT_NE(small.advice(), "");
}

}  // namespace
}  // namespace prism::query
