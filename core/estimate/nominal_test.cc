#include "core/estimate/nominal.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/estimate/estimate.h"
#include "core/estimate/testing/random_jobs.h"
#include "core/step/simulate.h"
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

step::NominalStep NominalOfGraph(const Job& job,
                                 const hardware::Cluster& cluster) {
  const absl::StatusOr<Estimate> estimate = BuildEstimate(job, cluster, {});
  EXPECT_TRUE(estimate.ok()) << estimate.status();
  const auto nominal = step::SimulateNominal(estimate->graph);
  EXPECT_TRUE(nominal.ok()) << nominal.status();
  return *nominal;
}

TEST(NominalEvaluatorTest, AgreesWithTheGraphOnRandomJobs) {
  const workload::Model model = workload::testing::Gpt(96, 2048, 32);
  const hardware::Cluster cluster = DgxA100(16);
  NominalEvaluator evaluator(model, cluster);
  testing::RandomJobs jobs(model, 128, 256, testing::Vary::kAll, 1);
  const std::vector<std::string> kinds = TaskKindNames();
  for (int i = 0; i < 200; ++i) {
    const Job job = jobs.Next();
    const auto time = evaluator.Evaluate(job.parallelism, job.training);
    ASSERT_TRUE(time.ok()) << time.status();
    const step::NominalStep expected = NominalOfGraph(job, cluster);
    const double tolerance = 1e-9 * expected.seconds;
    SCOPED_TRACE(absl::StrCat(i, ": schedule ",
                              static_cast<int>(job.parallelism.schedule)));
    ASSERT_NEAR(time->seconds, expected.seconds, tolerance);
    // The graph says of a wait how much of it was the transfer's.
    double waits = expected.by_kind.at("bubble");
    for (size_t kind = 0; kind < kTaskKinds; ++kind) {
      const double seconds = time->by_kind[static_cast<TaskKind>(kind)];
      const double of_graph = expected.by_kind.at(kinds[kind]);
      if (job.parallelism.overlap.pipeline &&
          static_cast<TaskKind>(kind) == TaskKind::kPipelineCommunication) {
        waits += of_graph;
        continue;
      }
      ASSERT_NEAR(seconds, of_graph, tolerance) << kinds[kind];
    }
    ASSERT_NEAR(time->bubble, waits, tolerance);
  }
}

TEST(NominalEvaluatorTest, NodesThatDifferAreLeftOut) {
  hardware::Cluster cluster = DgxA100(4);
  const Job job = workload::testing::Gpt22B();
  const double alike = NominalEvaluator(job.model, cluster)
                           .Evaluate(job.parallelism, job.training)
                           ->seconds;
  cluster.node_states = {{.node = 0, .slowdown = 2}};
  EXPECT_EQ(NominalEvaluator(job.model, cluster)
                .Evaluate(job.parallelism, job.training)
                ->seconds,
            alike);
}

TEST(NominalEvaluatorTest, ConstantsCount) {
  const Job job = workload::testing::Gpt22B();
  calibration::Constants slow;
  for (auto& speeds : slow.operators.architectures) {
    speeds.memory_efficiency /= 2;
  }
  EXPECT_GT(NominalEvaluator(job.model, DgxA100(1), slow)
                .Evaluate(job.parallelism, job.training)
                ->seconds,
            1.1 * NominalEvaluator(job.model, DgxA100(1))
                      .Evaluate(job.parallelism, job.training)
                      ->seconds);
}

}  // namespace
}  // namespace prism::estimate
