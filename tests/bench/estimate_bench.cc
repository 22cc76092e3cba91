// How fast layouts of one job are evaluated without building their graphs.

#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "core/base/check.h"
#include "core/estimate/estimate.h"
#include "core/estimate/nominal.h"
#include "core/estimate/testing/random_jobs.h"
#include "core/step/simulate.h"
#include "core/workload/testing/jobs.h"

namespace prism::estimate {
namespace {

constexpr int64_t kGpus = 1024;
constexpr int64_t kLayouts = 100000;

hardware::Cluster Cluster() {
  hardware::Cluster cluster;
  cluster.accelerator = "a100-80gb-sxm";
  cluster.nodes = kGpus / 8;
  return cluster;
}

workload::Model Gpt175B() { return workload::testing::Gpt(96, 12288, 96); }

std::vector<workload::Job> RandomLayouts() {
  testing::RandomJobs random(Gpt175B(), kGpus, 3072, testing::Vary::kLayout, 1);
  std::vector<workload::Job> jobs;
  while (jobs.size() < kLayouts) jobs.push_back(random.Next());
  return jobs;
}

// From an evaluator that knows nothing: what layouts have in common is worked
// out within the time.
void BM_RandomLayouts(benchmark::State& state) {
  const std::vector<workload::Job> jobs = RandomLayouts();
  double sum = 0;
  for (auto _ : state) {
    NominalEvaluator evaluator(Gpt175B(), Cluster());
    for (const workload::Job& job : jobs) {
      const auto time = evaluator.Evaluate(job.parallelism, job.training);
      PRISM_CHECK(time.ok());
      sum += time->seconds;
    }
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations() * kLayouts);
}
BENCHMARK(BM_RandomLayouts)->Unit(benchmark::kMillisecond);

// The same question by way of the graph.
void BM_Graphs(benchmark::State& state) {
  const std::vector<workload::Job> jobs = RandomLayouts();
  const hardware::Cluster cluster = Cluster();
  size_t next = 0;
  double sum = 0;
  for (auto _ : state) {
    const auto estimate = BuildEstimate(jobs[next], cluster, {});
    PRISM_CHECK(estimate.ok());
    sum += step::SimulateNominal(estimate->graph)->seconds;
    next = (next + 1) % jobs.size();
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Graphs)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace prism::estimate
