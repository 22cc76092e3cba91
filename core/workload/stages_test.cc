#include "core/workload/stages.h"

#include <gtest/gtest.h>

#include "core/workload/testing/jobs.h"

namespace prism::workload {
namespace {

using testing::Gpt22B;

Job OnTwoStagesOfTwoChunks() {
  Job job = Gpt22B();
  job.parallelism.pipeline = 2;
  job.parallelism.virtual_stages = 2;
  job.parallelism.schedule = Schedule::kInterleaved;
  return job;
}

TEST(StagesTest, LayersAreSplitEvenly) {
  const Job job = OnTwoStagesOfTwoChunks();
  for (int64_t u = 0; u < 4; ++u) EXPECT_EQ(LayersOfVirtualStage(job, u), 12);
  EXPECT_EQ(LayersOfStage(job, 1), 24);
}

TEST(StagesTest, OrAsTheJobSays) {
  Job job = OnTwoStagesOfTwoChunks();
  job.parallelism.stage_layers = {0, 14, 20, 14};
  EXPECT_EQ(LayersOfVirtualStage(job, 0), 0);
  EXPECT_EQ(LayersOfVirtualStage(job, 2), 20);
  EXPECT_EQ(LayersOfStage(job, 0), 20);
  EXPECT_EQ(LayersOfStage(job, 1), 28);
}

TEST(StagesTest, OnlyFullRecomputationRunsLayersAgain) {
  EXPECT_EQ(RecomputedLayers(Gpt22B(Recompute::kNone), 0), 0);
  EXPECT_EQ(RecomputedLayers(Gpt22B(Recompute::kSelective), 0), 0);
  EXPECT_EQ(RecomputedLayers(Gpt22B(Recompute::kFull), 0), 48);
}

TEST(StagesTest, AsManyLayersRunAgainAsTheJobSaysAndAStageHas) {
  Job job = OnTwoStagesOfTwoChunks();
  job.training.recompute = Recompute::kFull;
  job.training.recompute_layers = 13;
  job.parallelism.stage_layers = {2, 15, 16, 15};
  EXPECT_EQ(RecomputedLayers(job, 0), 2);
  EXPECT_EQ(RecomputedLayers(job, 1), 13);
}

}  // namespace
}  // namespace prism::workload
