#include "core/estimate/part_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/estimate/testing/random_jobs.h"
#include "core/workload/testing/jobs.h"

namespace prism::estimate {
namespace {

using workload::Job;

hardware::Cluster DgxA100(int64_t nodes) {
  hardware::Cluster cluster;
  cluster.accelerator = "a100-80gb-sxm";
  cluster.nodes = nodes;
  return cluster;
}

ModelCosts CostsOf(const Job& job) {
  const hardware::Cluster cluster = DgxA100(16);
  const auto costs =
      CostOfOperators(job, Cost(job, cluster, ShapeOf(job, cluster, {})), 1.05);
  EXPECT_TRUE(costs.ok()) << costs.status();
  return *costs;
}

KindSeconds PartsTogether(const PartCosts& part) {
  KindSeconds sum = SumOf(part.backward_input);
  sum.Add(SumOf(part.backward_weight));
  return sum;
}

TEST(SplitBackwardTest, PartsSumToTheWholeOfEachKindOnRandomJobs) {
  const workload::Model model = workload::testing::Gpt(96, 2048, 32);
  testing::RandomJobs jobs(model, 128, 256, testing::Vary::kAll, 2);
  for (int i = 0; i < 60; ++i) {
    const ModelCosts costs = CostsOf(jobs.Next());
    for (const PartCosts* part : {&costs.layer, &costs.recomputed_layer,
                                  &costs.embedding, &costs.head}) {
      const KindSeconds whole = SumOf(part->backward);
      const KindSeconds parts = PartsTogether(*part);
      for (size_t kind = 0; kind < kTaskKinds; ++kind) {
        ASSERT_NEAR(parts[static_cast<TaskKind>(kind)],
                    whole[static_cast<TaskKind>(kind)], 1e-12 * whole.total());
      }
    }
  }
}

hardware::LinkTime Together(const CostedTasks& tasks) {
  hardware::LinkTime sum;
  for (const CostedTask& task : tasks) sum += task.time;
  return sum;
}

TEST(SplitBackwardTest, PartsShareWaitsAndStallsOnRandomJobs) {
  const workload::Model model = workload::testing::Gpt(96, 2048, 32);
  testing::RandomJobs jobs(model, 128, 256, testing::Vary::kAll, 3);
  double stalls = 0;
  for (int i = 0; i < 60; ++i) {
    const PartCosts layer = CostsOf(jobs.Next()).layer;
    const hardware::LinkTime whole = Together(layer.backward);
    hardware::LinkTime parts = Together(layer.backward_input);
    parts += Together(layer.backward_weight);
    ASSERT_NEAR(parts.latency_seconds, whole.latency_seconds,
                1e-12 * whole.seconds);
    ASSERT_NEAR(parts.stalls, whole.stalls, 1e-12 * whole.stalls);
    stalls += whole.stalls;
  }
  EXPECT_GT(stalls, 0);
}

TEST(SplitBackwardTest, WeightPartsAreNearlyHalfOfTheProducts) {
  Job job = workload::testing::Gpt22B();
  job.training.attention = workload::Attention::kFlash;
  const PartCosts layer = CostsOf(job).layer;
  const double weight = SumOf(layer.backward_weight)[TaskKind::kCompute];
  const double whole = SumOf(layer.backward)[TaskKind::kCompute];
  // Attention and element-wise work are of the input part.
  EXPECT_LT(weight, 0.5 * whole);
  EXPECT_GT(weight, 0.3 * whole);
}

TEST(SplitBackwardTest, RecomputationBelongsToTheInputPart) {
  const Job job = workload::testing::Gpt22B(workload::Recompute::kFull);
  const PartCosts layer = CostsOf(job).recomputed_layer;
  EXPECT_GT(SumOf(layer.backward_input)[TaskKind::kRecompute], 0);
  EXPECT_EQ(SumOf(layer.backward_weight)[TaskKind::kRecompute], 0);
}

TEST(SplitBackwardTest, OnlySequenceParallelismGathersForWeights) {
  Job job = workload::testing::Gpt22B();
  const auto gathering = [&job] {
    return SumOf(
        CostsOf(job).layer.backward_weight)[TaskKind::kTensorCommunication];
  };
  EXPECT_EQ(gathering(), 0);
  job.parallelism.sequence_parallel = true;
  EXPECT_GT(gathering(), 0);
}

TEST(SplitBackwardTest, EmbeddingsHaveNoWeightPart) {
  const PartCosts embedding = CostsOf(workload::testing::Gpt22B()).embedding;
  EXPECT_TRUE(embedding.backward_weight.empty());
}

TEST(OffloadTest, OnlyWhatTheWindowDoesNotCoverIsLeft) {
  calibration::Constants constants;
  constants.host.link_bytes_per_second = 10e9;
  EXPECT_TRUE(LeftOfOffload(10e9, 1, constants).empty());
  EXPECT_TRUE(LeftOfOffload(0, 0, constants).empty());
  const KindSeconds left = SumOf(LeftOfOffload(10e9, 0.75, constants));
  EXPECT_DOUBLE_EQ(left[TaskKind::kOffload], 0.25);
  EXPECT_DOUBLE_EQ(left.total(), 0.25);
}

TEST(StagePartsTest, MicrobatchesThatKeepEverythingTakeTheirMean) {
  Job job = workload::testing::Gpt22B(workload::Recompute::kFull);
  job.parallelism.pipeline = 4;
  job.training.global_batch = 4 * 8;
  EXPECT_EQ(PartsOf(job, 0).recomputed_layers, 12);
  job.training.keep_microbatches = 1;
  // One of four in flight on the first stage, each of one on the last.
  EXPECT_EQ(PartsOf(job, 0).recomputed_layers, 9);
  EXPECT_EQ(PartsOf(job, 0).layers, 3);
  EXPECT_EQ(PartsOf(job, 3).recomputed_layers, 0);
}

}  // namespace
}  // namespace prism::estimate
