#include "core/workload/memory.h"

#include <gtest/gtest.h>

#include "core/workload/parameters.h"
#include "core/workload/testing/jobs.h"

namespace prism::workload {
namespace {

using testing::Gpt22B;

// s b h of the 22B job.
constexpr double kElements = 2048.0 * 4 * 6144;
constexpr double kScoreTerm = 5.0 * 64 * 2048 / 6144;  // 5 a s / h

double StateBytes(const MemoryUse& use) {
  return use.parameters + use.gradients + use.optimizer;
}

double ActivationsPerLayer(const Job& job) {
  return StageMemory(job, 0).activations / 48 / kElements;
}

TEST(StateMemoryTest, SixteenBytesAParameterWhereReplicated) {
  const Job job = Gpt22B();
  EXPECT_DOUBLE_EQ(StateBytes(StageMemory(job, 0)),
                   16 * StageParameters(job, 0));
}

TEST(StateMemoryTest, Zero1SplitsTheOptimizerAlone) {
  Job job = Gpt22B();
  job.parallelism.data = 4;
  job.parallelism.sharding = Sharding::kZero1;
  job.training.global_batch = 16;
  EXPECT_DOUBLE_EQ(StateBytes(StageMemory(job, 0)),
                   (4 + 12.0 / 4) * StageParameters(job, 0));
}

TEST(StateMemoryTest, GradientsIn32BitTakeTwoBytesMore) {
  Job job = Gpt22B();
  job.training.fp32_gradients = true;
  EXPECT_DOUBLE_EQ(StateBytes(StageMemory(job, 0)),
                   18 * StageParameters(job, 0));
}

TEST(StateMemoryTest, In32BitWeightsAreTheirOwnMasterCopy) {
  Job job = Gpt22B();
  job.training.precision = Precision::kFp32;
  EXPECT_DOUBLE_EQ(StateBytes(StageMemory(job, 0)),
                   16 * StageParameters(job, 0));
}

// Activations by arXiv 2205.05198, table 2, in bytes per s b h and layer.
TEST(ActivationMemoryTest, TensorParallelLeavesTenBytesWhole) {
  EXPECT_NEAR(ActivationsPerLayer(Gpt22B()), 10 + 24.0 / 8 + kScoreTerm / 8,
              1e-9);
}

TEST(ActivationMemoryTest, SequenceParallelSplitsEverything) {
  Job job = Gpt22B();
  job.parallelism.sequence_parallel = true;
  EXPECT_NEAR(ActivationsPerLayer(job), (34 + kScoreTerm) / 8, 1e-9);
}

TEST(ActivationMemoryTest, SelectiveRecomputationDropsTheScores) {
  Job job = Gpt22B(Recompute::kSelective);
  job.parallelism.sequence_parallel = true;
  EXPECT_NEAR(ActivationsPerLayer(job), 34.0 / 8, 1e-9);
}

TEST(ActivationMemoryTest, FlashAttentionNeverKeepsTheScores) {
  Job job = Gpt22B();
  job.training.attention = Attention::kFlash;
  EXPECT_NEAR(ActivationsPerLayer(job), 10 + 24.0 / 8, 1e-9);
}

TEST(ActivationMemoryTest, FullRecomputationKeepsInputsAndOneLayer) {
  const double inputs = 2.0 * 48;
  const double one_layer = 10 + 24.0 / 8 + kScoreTerm / 8;
  EXPECT_NEAR(StageMemory(Gpt22B(Recompute::kFull), 0).activations / kElements,
              inputs + one_layer, 1e-9);
}

Job Pipelined(Schedule schedule, int64_t virtual_stages) {
  Job job = Gpt22B();
  job.parallelism.pipeline = 4;
  job.parallelism.schedule = schedule;
  job.parallelism.virtual_stages = virtual_stages;
  job.training.global_batch = 4 * 16;  // 16 micro-batches
  return job;
}

// Layers' worth of activations on `stage`.
double LayersHeld(const Job& job, int64_t stage) {
  Job one = Gpt22B();
  one.model.layers = 1;
  return StageMemory(job, stage).activations / StageMemory(one, 0).activations;
}

TEST(InFlightTest, GpipeHoldsAllMicrobatches) {
  EXPECT_NEAR(LayersHeld(Pipelined(Schedule::kGpipe, 1), 2), 16 * 12, 1e-9);
}

TEST(InFlightTest, OneForwardOneBackwardHoldsAsManyAsStagesFollow) {
  const Job job = Pipelined(Schedule::kOneForwardOneBackward, 1);
  for (int64_t stage = 0; stage < 4; ++stage) {
    EXPECT_NEAR(LayersHeld(job, stage), static_cast<double>(4 - stage) * 12,
                1e-9);
  }
}

TEST(InFlightTest, FewMicrobatchesAreAllThereIs) {
  Job job = Pipelined(Schedule::kOneForwardOneBackward, 1);
  job.training.global_batch = 4 * 2;
  EXPECT_NEAR(LayersHeld(job, 0), 2 * 12, 1e-9);
}

TEST(InFlightTest, InterleavedFirstStageHoldsThePublishedShare) {
  // L (1 + (p-1)/(p v)) layers, arXiv 2205.05198, section 4.2.3.
  EXPECT_NEAR(LayersHeld(Pipelined(Schedule::kInterleaved, 3), 0),
              48 * (1 + 3.0 / (4 * 3)), 1e-9);
}

TEST(PeakMemoryTest, IsThatOfTheFullestStage) {
  const Job job = Pipelined(Schedule::kOneForwardOneBackward, 1);
  const MemoryUse peak = PeakMemory(job);
  EXPECT_EQ(peak.stage, 0);
  for (int64_t stage = 0; stage < 4; ++stage) {
    EXPECT_LE(StageMemory(job, stage).total(), peak.total());
  }
}

TEST(LogitMemoryTest, OnlyTheLastStageHoldsThem) {
  const Job job = Pipelined(Schedule::kOneForwardOneBackward, 1);
  EXPECT_EQ(StageMemory(job, 2).logits, 0);
  EXPECT_DOUBLE_EQ(StageMemory(job, 3).logits, 4 * 2048 * 51200.0 * 6 / 8);
}

}  // namespace
}  // namespace prism::workload
