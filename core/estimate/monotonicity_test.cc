// What can only help never hurts: nominal times of random jobs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/estimate/estimate.h"
#include "core/estimate/nominal.h"
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

// A higher peak at the same efficiencies, and faster memory.
TEST(MonotonicityTest, FasterOperatorsAreNeverSlower) {
  Constants products, memory;
  for (auto& speeds : products.operators.architectures) {
    for (double& share : speeds.product) share *= 1.05;
  }
  ExpectNeverSlower(ThreeLevels(), products, "products", WithWholeBackwards());
  for (auto& speeds : memory.operators.architectures) {
    speeds.memory_efficiency *= 1.05;
  }
  ExpectNeverSlower(ThreeLevels(), memory, "memory", WithWholeBackwards());
}

TEST(MonotonicityTest, CheaperHostsAndOverlapAreNeverSlower) {
  Constants cheap;
  cheap.overlap.contention = 0.1;
  cheap.megatron_core.backward_collectives = 0.3;
  cheap.torchtitan.overlapped_forward = 0.3;
  ExpectNeverSlower(ThreeLevels(), cheap, "overlap", WithWholeBackwards());
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
