// What can only help never hurts: nominal times of random jobs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/estimate/estimate.h"
#include "core/estimate/nominal.h"
#include "core/estimate/placement_shape.h"
#include "core/estimate/testing/random_jobs.h"
#include "core/step/simulate.h"
#include "core/workload/testing/jobs.h"

namespace prism::estimate {
namespace {

using calibration::Constants;
using hardware::Cluster;
using workload::Job;
using workload::Schedule;

constexpr int64_t kGpus = 128;
constexpr int kJobs = 400;

// Rounding of sums.
constexpr double kSlack = 1 + 1e-12;

Cluster ThreeLevels() {
  Cluster cluster;
  cluster.accelerator = "a100-80gb-sxm";
  cluster.nodes = kGpus / 8;
  cluster.fabric = {{"node", 8, 300e9, 1e-6, 1},
                    {"leaf", 32, 25e9, 4e-6, 1},
                    {"spine", kGpus, 25e9, 6e-6, 3}};
  return cluster;
}

workload::Model Gpt() { return workload::testing::Gpt(96, 4096, 32); }

// A search does not always find as much as it could.
std::vector<Schedule> WithoutSearch() {
  std::vector<Schedule> schedules = testing::AllSchedules();
  std::erase(schedules, Schedule::kZeroBubbleAuto);
  return schedules;
}

// Where what both parts of a backward take together gets shorter, one of them
// may get longer: hosts, and what products hide, are shared out between them.
std::vector<Schedule> WithWholeBackwards() {
  std::vector<Schedule> schedules = testing::AllSchedules();
  std::erase_if(schedules, workload::SplitsBackward);
  return schedules;
}

std::vector<Schedule> WithSplitBackwards() {
  std::vector<Schedule> schedules = WithoutSearch();
  std::erase_if(schedules,
                [](Schedule s) { return !workload::SplitsBackward(s); });
  return schedules;
}

testing::RandomJobs Jobs(uint32_t seed, std::vector<Schedule> schedules) {
  testing::RandomJobs jobs(Gpt(), kGpus, 256, testing::Vary::kAll, seed);
  jobs.Among(std::move(schedules));
  return jobs;
}

double Seconds(NominalEvaluator& evaluator, const Job& job) {
  const auto time = evaluator.Evaluate(job.parallelism, job.training);
  EXPECT_TRUE(time.ok()) << time.status();
  return time->seconds;
}

// No job is slower on `better`, with `better_constants`, and some are faster.
void ExpectNeverSlower(const Cluster& better, const Constants& better_constants,
                       const char* what,
                       const std::vector<Schedule>& schedules) {
  NominalEvaluator before(Gpt(), ThreeLevels());
  NominalEvaluator after(Gpt(), better, better_constants);
  testing::RandomJobs jobs = Jobs(3, schedules);
  int faster = 0;
  for (int i = 0; i < kJobs; ++i) {
    const Job job = jobs.Next();
    const double was = Seconds(before, job);
    const double is = Seconds(after, job);
    ASSERT_LE(is, was * kSlack) << what << ", job " << i;
    faster += is < was;
  }
  EXPECT_GT(faster, kJobs / 20) << what;
}

TEST(MonotonicityTest, MoreBandwidthIsNeverSlower) {
  for (size_t level = 0; level < 3; ++level) {
    Cluster cluster = ThreeLevels();
    cluster.fabric[level].bytes_per_second *= 1.3;
    ExpectNeverSlower(cluster, {}, cluster.fabric[level].name.c_str(),
                      WithoutSearch());
  }
}

TEST(MonotonicityTest, LessOversubscriptionIsNeverSlower) {
  Cluster cluster = ThreeLevels();
  cluster.fabric[2].oversubscription = 2;
  ExpectNeverSlower(cluster, {}, "oversubscription", WithoutSearch());
}

TEST(MonotonicityTest, LessLatencyIsNeverSlower) {
  for (size_t level = 0; level < 3; ++level) {
    Cluster cluster = ThreeLevels();
    cluster.fabric[level].latency_seconds *= 0.5;
    ExpectNeverSlower(cluster, {}, cluster.fabric[level].name.c_str(),
                      WithoutSearch());
  }
}

struct Better {
  const char* what;
  Constants constants;
};

// A higher peak at the same efficiencies, faster memory, cheaper overlap.
std::vector<Better> FasterOperators() {
  Better products = {"products", {}}, memory = {"memory", {}};
  Better overlap = {"overlap", {}};
  for (auto& speeds : products.constants.operators.architectures) {
    for (double& share : speeds.product) share *= 1.05;
  }
  for (auto& speeds : memory.constants.operators.architectures) {
    speeds.memory_efficiency *= 1.05;
  }
  overlap.constants.overlap.contention = 0.1;
  overlap.constants.megatron_core.backward_collectives = 0.3;
  overlap.constants.torchtitan.overlapped_forward = 0.3;
  return {products, memory, overlap};
}

TEST(MonotonicityTest, FasterOperatorsAreNeverSlower) {
  for (const Better& better : FasterOperators()) {
    ExpectNeverSlower(ThreeLevels(), better.constants, better.what,
                      WithWholeBackwards());
  }
}

// What each virtual stage takes in each phase, and each closing.
struct StepParts {
  std::vector<double> seconds;
  // Both parts of a backward, by virtual stage, but for copies to the host,
  // which hide behind the input part alone.
  std::vector<double> backward;
  double step = 0;
};

double ProgramSeconds(const step::StepGraph& graph, int program,
                      bool offload = true) {
  double sum = 0;
  for (const step::Segment& segment :
       graph.programs[static_cast<size_t>(program)].segments) {
    for (const step::Task& task : segment.tasks) {
      if (!offload && task.kind == static_cast<int>(TaskKind::kOffload)) {
        continue;
      }
      sum += static_cast<double>(segment.count) *
             graph.distributions[static_cast<size_t>(task.distribution)]
                 .StatedMean();
    }
  }
  return sum;
}

StepParts PartsOf(const Job& job, const Constants& constants) {
  const Cluster cluster = ThreeLevels();
  const auto estimate = BuildShapeEstimate(
      job, cluster, ShapeOf(job, cluster, {}), constants, Variation::Off());
  EXPECT_TRUE(estimate.ok()) << estimate.status();
  const step::StepGraph& graph = estimate->graph;
  StepParts parts;
  parts.step = step::SimulateNominal(graph)->seconds;
  parts.backward.resize(static_cast<size_t>(graph.virtual_stages()));
  for (size_t phase = 0; phase < graph.program_of.size(); ++phase) {
    for (size_t u = 0; u < graph.program_of[phase].size(); ++u) {
      const int program = graph.program_of[phase][u];
      if (program < 0) continue;
      parts.seconds.push_back(ProgramSeconds(graph, program));
      const auto is = static_cast<step::Phase>(phase);
      if (is == step::Phase::kBackwardInput ||
          is == step::Phase::kBackwardWeight) {
        parts.backward[u] += ProgramSeconds(graph, program, false);
      }
    }
  }
  for (const int program : graph.closing) {
    parts.seconds.push_back(ProgramSeconds(graph, program));
  }
  for (const int hop : graph.forward_hop) {
    parts.seconds.push_back(
        graph.distributions[static_cast<size_t>(hop)].StatedMean());
  }
  return parts;
}

// Both parts together get no longer, one of them may; and where no part grows
// by more than a factor, neither does a step in the same order.
TEST(MonotonicityTest, SplitBackwardsGrowByNoMoreThanOneOfTheirParts) {
  for (const Better& better : FasterOperators()) {
    testing::RandomJobs jobs = Jobs(3, WithSplitBackwards());
    for (int i = 0; i < 25; ++i) {
      SCOPED_TRACE(::testing::Message() << better.what << ", job " << i);
      const Job job = jobs.Next();
      const StepParts before = PartsOf(job, {});
      const StepParts after = PartsOf(job, better.constants);
      ASSERT_EQ(before.seconds.size(), after.seconds.size());
      double growth = 1;
      for (size_t k = 0; k < before.seconds.size(); ++k) {
        if (before.seconds[k] == 0) continue;
        growth = std::max(growth, after.seconds[k] / before.seconds[k]);
      }
      ASSERT_LE(after.step, before.step * growth * kSlack);
      for (size_t u = 0; u < before.backward.size(); ++u) {
        ASSERT_LE(after.backward[u], before.backward[u] * kSlack);
      }
    }
  }
}

TEST(MonotonicityTest, ASlowerNodeIsNeverFaster) {
  const auto seconds = [](const Job& job, const Cluster& cluster) {
    const auto estimate = BuildEstimate(job, cluster, {});
    EXPECT_TRUE(estimate.ok()) << estimate.status();
    return step::SimulateNominal(estimate->graph)->seconds;
  };
  testing::RandomJobs jobs = Jobs(5, WithoutSearch());
  std::mt19937 random(5);
  for (int i = 0; i < 20; ++i) {
    const Job job = jobs.Next();
    Cluster cluster = ThreeLevels();
    const auto node = static_cast<int64_t>(random() % 16);
    cluster.node_states = {{.node = node, .slowdown = 1.1}};
    const double slow = seconds(job, cluster);
    cluster.node_states[0].slowdown = 1.2;
    ASSERT_GE(seconds(job, cluster) * kSlack, slow) << i;
  }
}

}  // namespace
}  // namespace prism::estimate
