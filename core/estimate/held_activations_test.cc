#include "core/estimate/held_activations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/estimate/testing/random_jobs.h"
#include "core/step/schedules/activation_memory.h"
#include "core/workload/activation_memory.h"
#include "core/workload/testing/jobs.h"

namespace prism::estimate {
namespace {

using workload::Job;
using workload::Recompute;
using workload::Schedule;

// 48 layers on 4 stages, 16 micro-batches.
Job Pipelined(Schedule schedule, int64_t virtual_stages = 1) {
  Job job = workload::testing::Gpt22B();
  job.parallelism.pipeline = 4;
  job.parallelism.schedule = schedule;
  job.parallelism.virtual_stages = virtual_stages;
  job.training.global_batch = 4 * 16;
  job.training.attention = workload::Attention::kFlash;
  return job;
}

double Layer(const Job& job) { return KeptLayerBytes(job, Recompute::kNone); }

// In micro-batches on a stage of 1f1b.
std::vector<double> Microbatches(const Job& job) {
  std::vector<double> peaks = HeldActivations().PeakBytes(job);
  for (double& peak : peaks) peak /= 12 * Layer(job);
  return peaks;
}

double Most(const Job& job) {
  const std::vector<double> peaks = Microbatches(job);
  return *std::max_element(peaks.begin(), peaks.end());
}

TEST(HeldActivationsTest, OfZeroBubbleSchedulesAreAsPublished) {
  const double one = Most(Pipelined(Schedule::kOneForwardOneBackward));
  EXPECT_DOUBLE_EQ(one, 4);
  // The same as 1f1b (arXiv 2401.10241, 2.3), but for the gradient of the
  // logits that the last stage puts off.
  const Job h1 = Pipelined(Schedule::kZeroBubbleH1);
  EXPECT_LE(Most(h1), one + 4 * HeadBytesForWeights(h1) / (12 * Layer(h1)));
  EXPECT_DOUBLE_EQ(Microbatches(h1)[0], one);
  // Twice as many, but for one.
  EXPECT_DOUBLE_EQ(Microbatches(Pipelined(Schedule::kZeroBubbleH2))[0], 7);
}

TEST(HeldActivationsTest, OfVShapesAreThePublishedShares) {
  // arXiv 2405.15362, table 1: 1f1b's, half and a third of it and a little.
  const auto first = [](Schedule schedule) {
    const Job job = Pipelined(schedule, 2);
    // Without what waits for the head's weight part.
    return Most(job) - 4 * HeadBytesForWeights(job) / (12 * Layer(job));
  };
  EXPECT_LE(first(Schedule::kZeroBubbleV), 4);
  EXPECT_LE(first(Schedule::kHalfMemoryV), (4 + 2) / 2.0);
  EXPECT_LE(first(Schedule::kThirdMemoryV), (4 + 4) / 3.0);
}

TEST(HeldActivationsTest, DualPipeHoldsOneMicrobatchMoreThanStages) {
  // arXiv 2412.19437, table 2.
  const Job job = Pipelined(Schedule::kDualPipe, 2);
  EXPECT_GE(Most(job), 4);
  EXPECT_LE(Most(job), 5 + 4 * HeadBytesForWeights(job) / (12 * Layer(job)));
}

// By the other way to count, of the step's own.
std::vector<double> OfOrder(const Job& job) {
  const step::PipelineOrder order = *step::MakeOrder(
      ScheduleOf(job.parallelism.schedule), PipelineShapeOf(job));
  const bool splits = SplitsBackward(job.parallelism.schedule);
  std::vector<step::ActivationSize> sizes;
  for (int u = 0; u < order.virtual_stages(); ++u) {
    const auto layers = static_cast<double>(LayersOfVirtualStage(job, u));
    const auto again = static_cast<double>(RecomputedLayers(job, u));
    const Recompute rest = job.training.recompute == Recompute::kFull
                               ? Recompute::kNone
                               : job.training.recompute;
    step::ActivationSize size = {
        .whole = again * KeptLayerBytes(job, Recompute::kFull) +
                 (layers - again) * KeptLayerBytes(job, rest),
        .for_weight = splits ? layers * LayerBytesForWeights(job) : 0};
    if (splits && HasHead(job.parallelism, u)) {
      size.for_weight += HeadBytesForWeights(job);
    }
    sizes.push_back(size);
  }
  return step::PeakActivations(order, sizes);
}

TEST(HeldActivationsTest, AreThoseOfTheOrderOnRandomJobs) {
  testing::RandomJobs jobs(workload::testing::Gpt(96, 2048, 32), 128, 256,
                           testing::Vary::kLayout, 3);
  HeldActivations held;
  for (int i = 0; i < 200; ++i) {
    const Job job = jobs.Next();
    if (job.parallelism.schedule == Schedule::kZeroBubbleAuto) continue;
    const std::vector<double> expected = OfOrder(job);
    const std::vector<double> found = held.PeakBytes(job);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t stage = 0; stage < found.size(); ++stage) {
      ASSERT_NEAR(found[stage], expected[stage], 1e-9 * (1 + expected[stage]))
          << static_cast<int>(job.parallelism.schedule);
    }
  }
}

TEST(HeldActivationsTest, MoreOnTheHostIsLessOnTheDevice) {
  for (const Schedule schedule : testing::AllSchedules()) {
    const bool folds = workload::FoldsPipeline(Pipelined(schedule).parallelism);
    Job job = Pipelined(schedule, folds ? 2 : 1);
    if (schedule == Schedule::kInterleaved) job.parallelism.virtual_stages = 3;
    std::vector<double> before = HeldActivations().PeakBytes(job);
    for (const double share : {0.25, 0.5, 1.0}) {
      job.training.offload_activations = share;
      const std::vector<double> now = HeldActivations().PeakBytes(job);
      for (size_t stage = 0; stage < now.size(); ++stage) {
        EXPECT_LE(now[stage], before[stage] * (1 + 1e-12));
      }
      before = now;
    }
  }
}

TEST(HeldActivationsTest, OffloadedWholeLeavesTheMicrobatchAtWork) {
  Job job = Pipelined(Schedule::kOneForwardOneBackward);
  job.training.offload_activations = 1;
  for (const double held : Microbatches(job)) EXPECT_DOUBLE_EQ(held, 1);
  job.training.offload_activations = 0.5;
  EXPECT_DOUBLE_EQ(Microbatches(job)[0], 0.5 * 4 + 0.5);
}

TEST(HeldActivationsTest, MicrobatchesThatKeepEverythingAreThoseOfTheWindow) {
  Job job = Pipelined(Schedule::kOneForwardOneBackward);
  job.training.recompute = Recompute::kFull;
  const double input = KeptLayerBytes(job, Recompute::kFull) / Layer(job);
  for (const int64_t keep : {0, 1, 3}) {
    job.training.keep_microbatches = keep;
    const std::vector<double> held = Microbatches(job);
    for (int64_t stage = 0; stage < 4; ++stage) {
      const auto kept = static_cast<double>(std::min(keep, 4 - stage));
      const auto others = static_cast<double>(4 - stage) - kept;
      EXPECT_DOUBLE_EQ(held[static_cast<size_t>(stage)], kept + others * input);
    }
  }
}

TEST(HeldActivationsTest, ASearchKeepsWithinItsLimit) {
  Job job = Pipelined(Schedule::kZeroBubbleAuto);
  EXPECT_DOUBLE_EQ(Microbatches(job)[0], 4);
  job.parallelism.activation_limit = 6;
  EXPECT_DOUBLE_EQ(Microbatches(job)[0], 6);
  job.parallelism.activation_limit = 100;
  EXPECT_DOUBLE_EQ(Microbatches(job)[0], 16);
  job.parallelism.virtual_stages = 2;
  EXPECT_DOUBLE_EQ(Microbatches(job)[0], 16);
  job.parallelism.activation_limit = 3;
  EXPECT_DOUBLE_EQ(Microbatches(job)[0], 3);
}

TEST(HeldActivationsTest, WhatAWeightPartNeedsIsAsPublished) {
  // 32 s b h bytes of one layer (arXiv 2401.10241, table 1), whole on one GPU.
  Job job = workload::testing::Gpt22B();
  job.parallelism.tensor = 1;
  EXPECT_DOUBLE_EQ(LayerBytesForWeights(job), 32 * 2048.0 * 4 * 6144);
}

TEST(OffloadedBytesTest, AreTheShareOfWhatIsKept) {
  Job job = Pipelined(Schedule::kOneForwardOneBackward);
  EXPECT_EQ(OffloadedBytes(job, 1), 0);
  job.training.offload_activations = 0.25;
  EXPECT_DOUBLE_EQ(OffloadedBytes(job, 1), 0.25 * 12 * Layer(job));
}

}  // namespace
}  // namespace prism::estimate
