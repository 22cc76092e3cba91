#include "core/placement/replica_response.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/placement/test_support.h"
#include "core/step/simulate.h"
#include "core/step/step_profile.h"

namespace prism::placement {
namespace {

using stats::Distribution;

// Operations of constant length: forward 1 ms, backward `backward` ms.
step::StepGraph PlainGraph(int stages, int microbatches, double backward,
                           step::ScheduleKind schedule) {
  step::StepProfile profile;
  profile.pipeline = stages;
  profile.microbatches = microbatches;
  profile.schedule = schedule;
  profile.forward.emplace_back().compute = Distribution::MakeConstant(1);
  profile.backward.emplace_back().compute =
      Distribution::MakeConstant(backward);
  return step::BuildGraph(profile);
}

// End of a replica, in milliseconds, with stage `slow` 1 + x times as long.
double EndMs(const step::StepGraph& graph, int slow, double x) {
  const auto response = ReplicaResponse::Create(graph, 1);
  EXPECT_TRUE(response.ok());
  const int stages = graph.grid.stages;
  std::vector<float> slowdown(stages * kColumns, 1), clock(slowdown.size());
  if (slow >= 0) {
    std::fill_n(&slowdown[slow * kColumns], kColumns,
                static_cast<float>(1 + x));
  }
  ReplicaResponse::Workspace workspace;
  response->Ends(response->Timed(TimesOf(graph)), slowdown.data(), workspace,
                 clock.data());
  return 1e3 * *std::max_element(clock.begin(), clock.end());
}

// docs/step-profile.md: x (F + B) m - (p - 1 - i)(min(x F, B) + min(x B, F))
// over (m + p - 1)(F + B).
TEST(ReplicaResponseTest, SlowStageFollowsTheLaw) {
  for (const int m : {16, 24}) {
    for (const double backward : {2.0, 1.0, 1.5}) {
      const auto graph = PlainGraph(16, m, backward,
                                    step::ScheduleKind::kOneForwardOneBackward);
      for (const double x : {0.1, 0.5, 2.5}) {
        for (const int i : {0, 3, 15}) {
          const double expected =
              (m + 15) * (1 + backward) + x * (1 + backward) * m -
              (15 - i) * (std::min(x, backward) + std::min(x * backward, 1.0));
          EXPECT_NEAR(EndMs(graph, i, x), expected, 1e-4 * expected)
              << m << " " << backward << " " << x << " " << i;
        }
      }
    }
  }
}

TEST(ReplicaResponseTest, WorstOverBestPosition) {
  const auto graph =
      PlainGraph(16, 16, 2, step::ScheduleKind::kOneForwardOneBackward);
  EXPECT_NEAR(EndMs(graph, 15, 0.5) / EndMs(graph, 0, 0.5), 1.238, 0.0005);
}

TEST(ReplicaResponseTest, GpipeDoesNotCareWhere) {
  const auto graph = PlainGraph(4, 8, 2, step::ScheduleKind::kGpipe);
  EXPECT_NEAR(EndMs(graph, 0, 0.5), EndMs(graph, 3, 0.5), 1e-3);
}

TEST(ReplicaResponseTest, EveryColumnIsAReplicaOfItsOwn) {
  const auto graph =
      PlainGraph(4, 6, 2, step::ScheduleKind::kOneForwardOneBackward);
  const auto response = ReplicaResponse::Create(graph, 1);
  ASSERT_TRUE(response.ok());
  const TimedPipeline pipeline = response->Timed(TimesOf(graph));
  std::vector<float> slowdown(4 * kColumns, 1), clock(slowdown.size());
  for (int c = 0; c < 4; ++c) slowdown[c * kColumns + c] = 1.5f;
  ReplicaResponse::Workspace workspace;
  response->Ends(pipeline, slowdown.data(), workspace, clock.data());
  for (int c = 0; c < 5; ++c) {
    double end = 0;
    for (int s = 0; s < 4; ++s) {
      end = std::max<double>(end, clock[s * kColumns + c]);
    }
    EXPECT_NEAR(1e3 * end, EndMs(graph, c < 4 ? c : -1, 0.5), 1e-3) << c;
  }
}

// One replica's mean with noise against a simulation of it.
TEST(ReplicaResponseTest, MeanAndDeviationAgreeWithSimulation) {
  step::StepProfile profile;
  profile.pipeline = 4;
  profile.tensor = 4;
  profile.microbatches = 12;
  profile.forward = {{.compute = Distribution::MakeNormal(1, 0.03),
                      .collective = Distribution::MakeLognormal(0.2, 0.1),
                      .sync = step::Sync::kTensor,
                      .count = 8}};
  profile.backward = profile.forward;
  profile.transfer = Distribution::MakeLognormal(0.3, 0.1);
  profile.slowdown = {{4, 1.1}, {5, 1.1}, {6, 1.1}, {7, 1.1}};
  const step::StepGraph graph = step::BuildGraph(profile);
  step::SimulationOptions options;
  options.method = step::Method::kMonteCarlo;
  options.samples = 4000;
  base::InlineExecutor executor;
  const auto simulated =
      step::Simulate(graph, options, base::UnlimitedBudget(), executor);
  ASSERT_TRUE(simulated.ok());

  const auto response = ReplicaResponse::Create(graph, 3);
  ASSERT_TRUE(response.ok());
  const TimedPipeline pipeline = response->Timed(TimesOf(graph));
  const std::vector<float> slowdown = {1, 1.1f, 1, 1};
  std::vector<float> clock(4);
  ReplicaResponse::Workspace workspace;
  response->MeanEnds(pipeline, slowdown, ReplicaResponse::kDrawRows, workspace,
                     clock.data());
  const double deviation =
      response->EndDeviation(pipeline, slowdown, workspace);
  // 32 antithetic pairs: what is left of their noise is a small part of a
  // deviation; the simulation's own error is a sixtieth.
  EXPECT_NEAR(*std::max_element(clock.begin(), clock.end()),
              simulated->mean_seconds,
              0.25 * simulated->standard_deviation_seconds);
  // A deviation from 32 pairs is known to one part in eight.
  EXPECT_NEAR(deviation / simulated->standard_deviation_seconds, 1, 0.4);
}

TEST(ReplicaResponseTest, InterleavedAgreesWithTheNominalStep) {
  const workload::Job job =
      TestJob({.pipeline = 4, .microbatches = 8, .virtual_stages = 2});
  hardware::Cluster cluster = TestCluster(4, 1, 2);
  SetSpeeds(0.1, 3, cluster);
  const auto model = TestModel(job, cluster);
  const NodeList nodes = {2, 0, 3, 1};
  const auto graph = model->Graph(nodes);
  ASSERT_TRUE(graph.ok());
  const auto nominal = step::SimulateNominal(*graph);
  ASSERT_TRUE(nominal.ok());
  const auto communication = model->CommunicationOf(nodes);
  ASSERT_TRUE(communication.ok());
  std::vector<float> slowdown(4 * kColumns), clock(slowdown.size());
  for (int s = 0; s < 4; ++s) {
    std::fill_n(&slowdown[s * kColumns], kColumns,
                static_cast<float>(graph->slowdown[s]));
  }
  ReplicaResponse::Workspace workspace;
  model->response().Ends(model->pipeline(communication->pipeline),
                         slowdown.data(), workspace, clock.data());
  double end = 0;
  for (int s = 0; s < 4; ++s) {
    const ClosingTime& closing = communication->closing[s];
    end = std::max(end, clock[s * kColumns] + closing.network +
                            closing.optimizer * graph->slowdown[s]);
  }
  EXPECT_NEAR(end, nominal->seconds, 1e-5 * nominal->seconds);
}

}  // namespace
}  // namespace prism::placement
