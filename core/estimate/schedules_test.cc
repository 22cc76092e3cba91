// Jobs of every schedule, from the job to its graph and its times.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/estimate/closing_costs.h"
#include "core/estimate/estimate.h"
#include "core/estimate/job_order.h"
#include "core/estimate/nominal.h"
#include "core/estimate/testing/pipelined_job.h"
#include "core/estimate/testing/random_jobs.h"
#include "core/step/simulate.h"
#include "core/workload/parameters.h"
#include "core/workload/testing/jobs.h"

namespace prism::estimate {
namespace {

using testing::AllSchedules;
using testing::DgxA100;
using testing::Pipelined;
using workload::Job;
using workload::Schedule;

Estimate EstimateOf(const Job& job) {
  const auto estimate = BuildEstimate(job, DgxA100(4), {});
  EXPECT_TRUE(estimate.ok()) << estimate.status();
  return *estimate;
}

double NominalSeconds(const Job& job) {
  const auto time = NominalEvaluator(job.model, DgxA100(16))
                        .Evaluate(job.parallelism, job.training);
  EXPECT_TRUE(time.ok()) << time.status();
  return time->seconds;
}

TEST(JobOrderTest, VirtualStagesLieWhereTheJobSays) {
  for (const Schedule schedule : AllSchedules()) {
    if (schedule == Schedule::kZeroBubbleAuto) continue;
    const Job job = Pipelined(schedule);
    JobOrders orders;
    const step::PipelineOrder& order = orders.OrderOf(job);
    EXPECT_EQ(order.chains, Chains(schedule));
    ASSERT_EQ(order.virtual_stages(), VirtualStages(job.parallelism));
    for (int u = 0; u < order.virtual_stages(); ++u) {
      EXPECT_EQ(order.stage_of[static_cast<size_t>(u)],
                StageOf(job.parallelism, u));
    }
  }
}

TEST(JobOrderTest, ChunksOfAStageAreItsVirtualStages) {
  for (const Schedule schedule : AllSchedules()) {
    const workload::Parallelism split = Pipelined(schedule).parallelism;
    std::set<int64_t> all;
    for (int64_t stage = 0; stage < split.pipeline; ++stage) {
      for (int64_t chunk = 0; chunk < split.virtual_stages; ++chunk) {
        const int64_t u = VirtualStageOf(split, stage, chunk);
        EXPECT_EQ(StageOf(split, u), stage);
        EXPECT_TRUE(all.insert(u).second);
      }
    }
  }
}

TEST(ScheduleGraphTest, NominalTimeIsThatOfTheEvaluator) {
  for (const Schedule schedule : AllSchedules()) {
    for (const bool beside : {false, true}) {
      Job job = Pipelined(schedule);
      job.parallelism.overlap.pipeline = beside;
      const auto nominal = step::SimulateNominal(EstimateOf(job).graph);
      ASSERT_TRUE(nominal.ok()) << nominal.status();
      const double seconds = NominalEvaluator(job.model, DgxA100(4))
                                 .Evaluate(job.parallelism, job.training)
                                 ->seconds;
      EXPECT_NEAR(nominal->seconds, seconds, 1e-9 * seconds)
          << static_cast<int>(schedule);
    }
  }
}

TEST(ScheduleGraphTest, NothingIsSentWithinAStage) {
  const step::StepGraph graph =
      EstimateOf(Pipelined(Schedule::kZeroBubbleV)).graph;
  // Virtual stages 3 and 4 both lie on the last stage.
  const auto sends = [&graph](step::Phase phase, int u) {
    const int program =
        graph.program_of[static_cast<size_t>(phase)][static_cast<size_t>(u)];
    const auto& segments =
        graph.programs[static_cast<size_t>(program)].segments;
    return segments.back().name == "send";
  };
  EXPECT_TRUE(sends(step::Phase::kForward, 2));
  EXPECT_FALSE(sends(step::Phase::kForward, 3));
  EXPECT_TRUE(sends(step::Phase::kForward, 4));
  EXPECT_FALSE(sends(step::Phase::kForward, 7));
  EXPECT_FALSE(sends(step::Phase::kBackwardInput, 0));
  EXPECT_TRUE(sends(step::Phase::kBackwardInput, 3));
  EXPECT_FALSE(sends(step::Phase::kBackwardInput, 4));
}

TEST(SchedulePlacementTest, AVHasBothEndsAndOneEmbeddingOnItsFirstStage) {
  const Job looped = Pipelined(Schedule::kZeroBubbleH1);
  const Job v = Pipelined(Schedule::kZeroBubbleV);
  EXPECT_TRUE(HoldsTiedCopy(looped, 3));
  for (int64_t stage = 0; stage < 4; ++stage) {
    EXPECT_FALSE(HoldsTiedCopy(v, stage));
  }
  const double table = EmbeddingParameters(v.model).split / 8;
  double of_looped = 0, of_v = 0;
  for (int64_t stage = 0; stage < 4; ++stage) {
    of_looped += StageParameters(looped, stage);
    of_v += StageParameters(v, stage);
  }
  EXPECT_NEAR(of_looped - of_v, table, 1e-6 * table);
}

TEST(SchedulePlacementTest, DualPipeHoldsTwoStagesParameters) {
  const Job dual = Pipelined(Schedule::kDualPipe);
  const Job plain = Pipelined(Schedule::kZeroBubbleH1);
  EXPECT_DOUBLE_EQ(StageParameters(dual, 1),
                   StageParameters(plain, 1) + StageParameters(plain, 2));
  EXPECT_DOUBLE_EQ(StageParameters(dual, 0), StageParameters(dual, 3));
}

TEST(ScheduleClosingTest, DualPipeSumsGradientsWithTheTwinStage) {
  for (const Schedule schedule :
       {Schedule::kDualPipe, Schedule::kDualPipeV, Schedule::kZeroBubbleH1}) {
    const Job job = Pipelined(schedule);
    const hardware::Cluster cluster = DgxA100(4);
    const Cost cost(job, cluster, ShapeOf(job, cluster, {}));
    const auto inner = CostOfClosing(job, cost, 1, 1);
    const auto first = CostOfClosing(job, cost, 1, 0);
    ASSERT_TRUE(inner.ok() && first.ok());
    EXPECT_EQ(inner->copies.seconds > 0, schedule == Schedule::kDualPipe);
    // The tied embedding is on both ends but for the V.
    EXPECT_EQ(first->copies.seconds > 0, schedule != Schedule::kDualPipeV);
  }
}

// Without hops H1 moves weight parts to where 1f1b waits, and nothing later.
TEST(ScheduleTimesTest, ZeroBubbleH1IsNeverSlowerThan1f1bWithoutHops) {
  testing::RandomJobs jobs(workload::testing::Gpt(96, 2048, 32), 128, 256,
                           testing::Vary::kLayout, 4);
  jobs.Among({Schedule::kZeroBubbleH1});
  hardware::Cluster cluster = DgxA100(16);
  cluster.fabric = {{"free", 128, 1e30, 0, 1}};
  calibration::Constants free;
  for (auto* transfer :
       {&free.links.node_transfer, &free.links.node_bulk_transfer,
        &free.links.network.transfer}) {
    transfer->start_seconds = 0;
  }
  for (int i = 0; i < 60; ++i) {
    Job job = jobs.Next();
    // Else what is received is gathered.
    job.parallelism.sequence_parallel = job.parallelism.tensor > 1;
    NominalEvaluator evaluator(job.model, cluster, free);
    const NominalTime split =
        *evaluator.Evaluate(job.parallelism, job.training);
    ASSERT_LT(split.by_kind[TaskKind::kPipelineCommunication], 1e-9);
    job.parallelism.schedule = Schedule::kOneForwardOneBackward;
    const double whole =
        evaluator.Evaluate(job.parallelism, job.training)->seconds;
    EXPECT_LE(split.seconds, whole * (1 + 1e-9)) << i;
  }
}

TEST(ScheduleTimesTest, ASearchIsNeverSlowerThanWhatItKnows) {
  const double found = NominalSeconds(Pipelined(Schedule::kZeroBubbleAuto));
  for (const Schedule schedule :
       {Schedule::kOneForwardOneBackward, Schedule::kZeroBubbleH1}) {
    EXPECT_LE(found, NominalSeconds(Pipelined(schedule)) * (1 + 1e-9));
  }
  Job wide = Pipelined(Schedule::kZeroBubbleAuto);
  wide.parallelism.activation_limit = 7;
  EXPECT_LE(NominalSeconds(wide),
            NominalSeconds(Pipelined(Schedule::kZeroBubbleH2)) * (1 + 1e-9));
}

Job SearchedOnAV() {
  Job job = Pipelined(Schedule::kZeroBubbleV);
  job.parallelism.schedule = Schedule::kZeroBubbleAuto;
  return job;
}

TEST(ScheduleTimesTest, ASearchWithTwoChunksIsOfAV) {
  const Job job = SearchedOnAV();
  NominalEvaluator evaluator(job.model, DgxA100(4));
  const auto seconds = [&](const Job& other) {
    return evaluator.Evaluate(other.parallelism, other.training)->seconds;
  };
  const double found = seconds(job);
  const step::PipelineOrder order = evaluator.Order();
  ASSERT_EQ(order.virtual_stages(), 8);
  for (int u = 0; u < 8; ++u) {
    EXPECT_EQ(order.stage_of[static_cast<size_t>(u)],
              StageOf(job.parallelism, u));
  }
  for (const Schedule schedule :
       {Schedule::kZeroBubbleV, Schedule::kHalfMemoryV,
        Schedule::kThirdMemoryV}) {
    EXPECT_LE(found, seconds(Pipelined(schedule)) * (1 + 1e-9));
  }
  EXPECT_NEAR(step::SimulateNominal(EstimateOf(job).graph)->seconds, found,
              1e-9 * found);
}

TEST(ScheduleTimesTest, OffloadingNeverMakesAStepShorter) {
  for (const Schedule schedule : AllSchedules()) {
    Job job = Pipelined(schedule);
    double before = 0;
    for (const double share : {0.0, 0.5, 1.0}) {
      job.training.offload_activations = share;
      const double seconds = NominalSeconds(job);
      if (schedule != Schedule::kZeroBubbleAuto) {
        EXPECT_GE(seconds, before);
      }
      before = seconds;
    }
  }
}

TEST(ScheduleTimesTest, WhatOffloadingLeavesExposedIsInTheBreakdown) {
  Job job = Pipelined(Schedule::kOneForwardOneBackward);
  calibration::Constants slow;
  slow.host.link_bytes_per_second = 1e9;
  NominalEvaluator evaluator(job.model, DgxA100(4), slow);
  const auto exposed = [&] {
    return evaluator.Evaluate(job.parallelism, job.training)
        ->by_kind[TaskKind::kOffload];
  };
  EXPECT_EQ(exposed(), 0);
  job.training.offload_activations = 1;
  EXPECT_GT(exposed(), 0);
}

}  // namespace
}  // namespace prism::estimate
