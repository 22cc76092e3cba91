#include "core/estimate/memory.h"

#include <gtest/gtest.h>

#include "core/workload/activation_memory.h"
#include "core/workload/parameters.h"
#include "core/workload/testing/jobs.h"

namespace prism::estimate {
namespace {

using workload::ContextKind;
using workload::Framework;
using workload::Job;
using workload::Model;
using workload::Precision;
using workload::Recompute;
using workload::Schedule;
using workload::Sharding;
using workload::testing::Gpt22B;

double StateBytes(const MemoryUse& use) {
  return use.parameters + use.gradients + use.optimizer;
}

TEST(StateMemoryTest, SixteenBytesAParameterWhereReplicated) {
  const Job job = Gpt22B();
  EXPECT_DOUBLE_EQ(StateBytes(StageMemory(job, 0)),
                   16 * StageParameters(job, 0));
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

struct ShardingCase {
  Sharding sharding;
  double whole;  // bytes of a parameter on every rank
  double split;  // bytes that are shared out
};

class StateSharding : public ::testing::TestWithParam<ShardingCase> {};

// arXiv 1910.02054, section 5: 16, 4 + 12/d, 2 + 14/d and 16/d.
TEST_P(StateSharding, TakesThePublishedBytesAParameter) {
  for (int64_t ranks : {2, 4, 64}) {
    Job job = Gpt22B();
    job.parallelism.data = ranks;
    job.parallelism.sharding = GetParam().sharding;
    job.training.global_batch = 4 * ranks;
    EXPECT_DOUBLE_EQ(
        StateBytes(StageMemory(job, 0)),
        (GetParam().whole + GetParam().split / static_cast<double>(ranks)) *
            StageParameters(job, 0));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, StateSharding,
    ::testing::Values(ShardingCase{Sharding::kNone, 16, 0},
                      ShardingCase{Sharding::kZero1, 4, 12},
                      ShardingCase{Sharding::kZero2, 2, 14},
                      ShardingCase{Sharding::kZero3, 0, 16}));

TEST(StateMemoryTest, PyTorchShardsTheSame16BytesIn32Bit) {
  Job job = Gpt22B();
  job.parallelism.data = 8;
  job.parallelism.sharding = Sharding::kZero3;
  job.training.global_batch = 32;
  job.training.framework = Framework::kFsdp;
  const MemoryUse use = StageMemory(job, 0);
  EXPECT_DOUBLE_EQ(use.parameters, 4.0 / 8 * StageParameters(job, 0));
  EXPECT_DOUBLE_EQ(StateBytes(use), 16.0 / 8 * StageParameters(job, 0));
}

TEST(StateMemoryTest, CopiesOfOneShardDoNotMakeItSmaller) {
  Job job = Gpt22B();
  job.parallelism.data = 8;
  job.parallelism.sharding = Sharding::kZero3;
  job.parallelism.shard_group = 2;
  job.training.global_batch = 32;
  EXPECT_DOUBLE_EQ(StateBytes(StageMemory(job, 0)),
                   8 * StageParameters(job, 0));
}

TEST(StateMemoryTest, ContextRanksShareStatesOut) {
  Job job = Gpt22B();
  job.parallelism.context = 4;
  job.parallelism.sharding = Sharding::kZero1;
  EXPECT_DOUBLE_EQ(StateBytes(StageMemory(job, 0)),
                   (4 + 12.0 / 4) * StageParameters(job, 0));
}

TEST(StateMemoryTest, OffloadedStatesTakeNone) {
  Job job = Gpt22B();
  job.training.offload_optimizer = true;
  EXPECT_EQ(StageMemory(job, 0).optimizer, 0);
}

Job Pipelined(Schedule schedule, int64_t virtual_stages) {
  Job job = Gpt22B();
  job.parallelism.pipeline = 4;
  job.parallelism.schedule = schedule;
  job.parallelism.virtual_stages = virtual_stages;
  job.training.global_batch = 4 * 16;  // 16 micro-batches
  return job;
}

// Layers' worth of activations on `stage` beside what its backward has in hand.
double LayersHeld(const Job& job, int64_t stage) {
  const MemoryUse use = StageMemory(job, stage);
  const double at_hand =
      use.logits > 0 ? HeadInputBytes(job) : LayerBackwardBytes(job);
  return (use.activations - at_hand) / KeptLayerBytes(job, Recompute::kNone);
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

TEST(InFlightTest, LongStagesHoldMore) {
  Job job = Pipelined(Schedule::kOneForwardOneBackward, 1);
  job.parallelism.stage_layers = {0, 20, 16, 12};
  EXPECT_NEAR(LayersHeld(job, 1), 3 * 20, 1e-9);
  EXPECT_EQ(StageMemory(job, 0).activations, 0);
}

TEST(InFlightTest, LayersThatAreComputedAgainLeaveTheirInput) {
  Job job = Gpt22B(Recompute::kFull);
  job.training.recompute_layers = 16;
  const double input = KeptLayerBytes(job, Recompute::kFull);
  const double all = KeptLayerBytes(job, Recompute::kNone);
  EXPECT_NEAR(StageMemory(job, 0).activations,
              16 * input + 32 * all + (all - input) + LayerBackwardBytes(job),
              1);
}

TEST(BufferTest, TransformerEngineKeepsAPlaceholderOfEachWeight) {
  Job job = Gpt22B();
  EXPECT_EQ(StageMemory(job, 0).buffers, 0);
  job.training.framework = Framework::kMegatronCore;
  job.training.fp32_gradients = true;
  const double layer = LayerParameters(job.model).per_gpu(8);
  const double head = 51200.0 * 6144 / 8;
  EXPECT_DOUBLE_EQ(StageMemory(job, 0).buffers, 2 * (layer + head));
}

TEST(BufferTest, NarrowWeightsAreCopiedByRowsAndByColumns) {
  Job job = Gpt22B();
  job.training.framework = Framework::kMegatronCore;
  job.training.precision = Precision::kFp8;
  EXPECT_DOUBLE_EQ(StageMemory(job, 0).buffers,
                   2 * 48 * LayerParameters(job.model).per_gpu(8));
}

TEST(BufferTest, FullShardingGathersWhatIsAtWork) {
  Job job = Gpt22B();
  job.parallelism.sharding = Sharding::kZero3;
  EXPECT_EQ(StageMemory(job, 0).buffers, 0);  // nobody to gather from
  job.parallelism.data = 2;
  job.training.global_batch = 8;
  EXPECT_GE(StageMemory(job, 0).buffers,
            2 * 2 * LayerParameters(job.model).per_gpu(8));
}

TEST(ReserveTest, IsWhatTheAllocatorDoesNotCount) {
  const MemoryUse use = StageMemory(Gpt22B(), 0);
  EXPECT_GT(use.reserve, 0);
  EXPECT_DOUBLE_EQ(use.total(), use.allocated() + use.reserve);
  double sum = 0;
  for (const auto& [name, bytes] : use.parts()) sum += bytes;
  EXPECT_DOUBLE_EQ(sum, use.total());
}

// Peak of torch.cuda.max_memory_allocated on B200 with Megatron-core and
// Transformer Engine (SimuMax, release 1.2, 2026; Apache-2.0): sequences of
// 4096 to a context rank or as said, one sequence a micro-batch, no
// recomputation, fused loss.
struct MeasuredPeak {
  const char* name;
  int64_t layers, hidden, heads, kv_heads, ffn_hidden;
  int64_t tensor, context, pipeline, data, sequence;
  double gibibytes;
};

class MeasuredPeakTest : public ::testing::TestWithParam<MeasuredPeak> {};

Job JobOf(const MeasuredPeak& row) {
  Job job;
  job.model = workload::testing::Llama3(row.layers, row.hidden, row.heads,
                                        row.ffn_hidden);
  job.model.kv_heads = row.kv_heads;
  job.parallelism.tensor = row.tensor;
  job.parallelism.sequence_parallel = true;
  job.parallelism.context = row.context;
  job.parallelism.context_kind = ContextKind::kAllToAll;
  job.parallelism.pipeline = row.pipeline;
  job.parallelism.data = row.data;
  job.parallelism.sharding = Sharding::kZero1;
  job.training.sequence = row.sequence;
  job.training.global_batch = 8 * row.data;
  job.training.framework = Framework::kMegatronCore;
  job.training.dropout = false;
  job.training.fused_cross_entropy = true;
  return job;
}

TEST_P(MeasuredPeakTest, IsWithinFivePercent) {
  const MeasuredPeak& row = GetParam();
  const double gibibytes =
      PeakMemory(JobOf(row)).allocated() / (1024.0 * 1024 * 1024);
  EXPECT_NEAR(gibibytes / row.gibibytes, 1, 0.05) << row.name;
}

INSTANTIATE_TEST_SUITE_P(
    B200, MeasuredPeakTest,
    ::testing::Values(MeasuredPeak{"70B tp1 pp2 dp4", 12, 8192, 64, 8, 28672, 1,
                                   1, 2, 4, 4096, 66.55},
                      MeasuredPeak{"70B tp4 dp2", 12, 8192, 64, 8, 28672, 4, 1,
                                   1, 2, 4096, 39.07},
                      MeasuredPeak{"70B tp8", 12, 8192, 64, 8, 28672, 8, 1, 1,
                                   1, 4096, 28.29},
                      MeasuredPeak{"70B tp2 dp4", 12, 8192, 64, 8, 28672, 2, 1,
                                   1, 4, 4096, 60.68},
                      MeasuredPeak{"405B tp1 pp2 dp4", 4, 16384, 128, 16, 53248,
                                   1, 1, 2, 4, 4096, 87.08},
                      MeasuredPeak{"405B tp2 dp4", 4, 16384, 128, 16, 53248, 2,
                                   1, 1, 4, 4096, 81.59},
                      MeasuredPeak{"405B tp8", 4, 16384, 128, 16, 53248, 8, 1,
                                   1, 1, 4096, 38.57},
                      MeasuredPeak{"70B tp2 cp4", 12, 8192, 64, 8, 28672, 2, 4,
                                   1, 1, 32768, 68.43},
                      MeasuredPeak{"70B tp1 cp8", 12, 8192, 64, 8, 28672, 1, 8,
                                   1, 1, 131072, 147.99},
                      MeasuredPeak{"405B tp2 cp4", 4, 16384, 128, 16, 53248, 2,
                                   4, 1, 1, 131072, 118.13}));

// Reserved memory of Llama 3.1 with torchtitan on H100, fully sharded
// (torchtitan, docs of 2024-12; BSD-3-Clause). The loss was not compiled.
struct TorchtitanReading {
  Model model;
  int64_t tensor, data, context, sequence, micro_batch;
  Recompute recompute;
  bool compiled;
  double gibibytes;
};

class TorchtitanTest : public ::testing::TestWithParam<TorchtitanReading> {};

Job JobOf(const TorchtitanReading& row) {
  Job job;
  job.model = row.model;
  job.parallelism.tensor = row.tensor;
  job.parallelism.sequence_parallel = true;
  job.parallelism.data = row.data;
  job.parallelism.context = row.context;
  job.parallelism.sharding = Sharding::kZero3;
  job.training.sequence = row.sequence;
  job.training.micro_batch = row.micro_batch;
  job.training.global_batch = row.micro_batch * row.data;
  job.training.recompute = row.recompute;
  job.training.framework = Framework::kTorchtitan;
  job.training.compiled = row.compiled;
  job.training.dropout = false;
  return job;
}

TEST_P(TorchtitanTest, ReservesWithinEightPercent) {
  const MemoryUse use = PeakMemory(JobOf(GetParam()));
  // The allocator's blocks, without what lies outside of it.
  const double reserved = 1.05 * use.allocated() / (1024.0 * 1024 * 1024);
  EXPECT_NEAR(reserved / GetParam().gibibytes, 1, 0.08);
}

constexpr Recompute kSelective = Recompute::kSelective;
constexpr Recompute kFull = Recompute::kFull;
const Model k8B = workload::testing::Llama3(32, 4096, 32, 14336);
const Model k70B = workload::testing::Llama3(80, 8192, 64, 28672);

INSTANTIATE_TEST_SUITE_P(
    H100, TorchtitanTest,
    ::testing::Values(
        TorchtitanReading{k8B, 1, 8, 1, 8192, 2, kSelective, false, 82.4},
        TorchtitanReading{k8B, 1, 8, 1, 8192, 2, kSelective, true, 77.0},
        TorchtitanReading{k8B, 1, 128, 1, 8192, 2, kSelective, false, 67.0},
        TorchtitanReading{k8B, 1, 128, 1, 8192, 2, kSelective, true, 62.0},
        TorchtitanReading{k8B, 1, 8, 1, 32768, 1, kFull, true, 83.9},
        TorchtitanReading{k8B, 1, 4, 2, 65536, 1, kFull, true, 84.2},
        TorchtitanReading{k8B, 1, 2, 4, 131072, 1, kFull, true, 84.0},
        TorchtitanReading{k8B, 1, 1, 8, 262144, 1, kFull, true, 84.5},
        TorchtitanReading{k70B, 8, 32, 1, 8192, 16, kFull, true, 71.9}));

}  // namespace
}  // namespace prism::estimate
