// How fast layouts of one job are evaluated without building their graphs.

#include <benchmark/benchmark.h>

#include <memory>
#include <utility>
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
constexpr size_t kLayouts = 100000;
constexpr size_t kFewLayouts = 2000;

hardware::Cluster Cluster() {
  hardware::Cluster cluster;
  cluster.accelerator = "a100-80gb-sxm";
  cluster.nodes = kGpus / 8;
  return cluster;
}

workload::Model Gpt175B() { return workload::testing::Gpt(96, 12288, 96); }

using workload::Schedule;

// Whose rounds repeat, so that not all of them need be run.
std::vector<Schedule> Classic() {
  return {Schedule::kGpipe, Schedule::kOneForwardOneBackward,
          Schedule::kInterleaved};
}

// Those that must be run operation by operation.
std::vector<Schedule> OperationByOperation() {
  std::vector<Schedule> schedules = testing::AllSchedules();
  std::erase_if(schedules, [](Schedule schedule) {
    return schedule <= Schedule::kInterleaved ||
           schedule == Schedule::kZeroBubbleAuto;
  });
  return schedules;
}

bool IsOfWholeRounds(const workload::Job& job) {
  return job.parallelism.schedule != Schedule::kInterleaved ||
         job.microbatches() % job.parallelism.pipeline == 0;
}

std::vector<workload::Job> RandomLayouts(std::vector<Schedule> schedules,
                                         size_t count) {
  testing::RandomJobs random(Gpt175B(), kGpus, 3072, testing::Vary::kLayout, 1);
  random.Among(std::move(schedules));
  std::vector<workload::Job> jobs;
  while (jobs.size() < count) {
    const workload::Job job = random.Next();
    if (IsOfWholeRounds(job)) jobs.push_back(job);
  }
  return jobs;
}

// From an evaluator that knows nothing: what layouts have in common is worked
// out within the time.
void Evaluate(const std::vector<workload::Job>& jobs, benchmark::State& state) {
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
  state.SetItemsProcessed(state.iterations() *
                          static_cast<int64_t>(jobs.size()));
}

void BM_RandomLayouts(benchmark::State& state) {
  Evaluate(RandomLayouts(Classic(), kLayouts), state);
}
BENCHMARK(BM_RandomLayouts)->Unit(benchmark::kMillisecond);

void BM_OtherSchedules(benchmark::State& state) {
  Evaluate(RandomLayouts(OperationByOperation(), kFewLayouts), state);
}
BENCHMARK(BM_OtherSchedules)->Unit(benchmark::kMillisecond);

// The same question by way of the graph.
void BM_Graphs(benchmark::State& state) {
  const std::vector<workload::Job> jobs = RandomLayouts(Classic(), kLayouts);
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
