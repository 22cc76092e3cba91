// How long schedulers' questions take on one core: candidates scored,
// placements found. Run by hand on an idle machine.
//
// Beside each case: gap_percent, what the placement found could still gain.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <random>

#include "core/placement/optimize.h"
#include "core/placement/rank_nodes.h"
#include "core/placement/score.h"

namespace prism::placement {
namespace {

constexpr double kSpread = 0.02;

// `replicas` x `stages` nodes of eight GPUs.
workload::Job JobOf(int64_t stages, int64_t replicas, int64_t microbatches) {
  workload::Job job;
  job.model = {.layers = 4 * stages,
               .hidden = 8192,
               .heads = 64,
               .kv_heads = 64,
               .head_size = 128,
               .ffn_hidden = 32768,
               .vocabulary = 51200,
               .position_embeddings = 2048};
  job.parallelism.tensor = 8;
  job.parallelism.pipeline = stages;
  job.parallelism.data = replicas;
  job.training.sequence = 2048;
  job.training.global_batch = microbatches * replicas;
  return job;
}

// Leaves of 16 nodes, every node with a factor of its own.
hardware::Cluster ClusterOf(int64_t nodes, bool doubtful) {
  hardware::Cluster cluster;
  cluster.accelerator = "a100-80gb-sxm";
  cluster.nodes = nodes;
  cluster.fabric = {{.name = "node",
                     .gpus = 8,
                     .bytes_per_second = 300e9,
                     .latency_seconds = 0.5e-6},
                    {.name = "leaf",
                     .gpus = 128,
                     .bytes_per_second = 25e9,
                     .latency_seconds = 3e-6},
                    {.name = "top",
                     .gpus = (nodes + 15) / 16 * 128,
                     .bytes_per_second = 25e9,
                     .latency_seconds = 5e-6,
                     .oversubscription = 2}};
  std::mt19937_64 random(1);
  std::normal_distribution<> normal;
  for (int64_t node = 0; node < nodes; ++node) {
    hardware::NodeState state;
    state.node = node;
    state.slowdown = 1 + kSpread * std::abs(normal(random));
    if (doubtful) {
      state.measured_slowdown =
          stats::Distribution::MakeNormal(*state.slowdown, 0.005);
    }
    cluster.node_states.push_back(std::move(state));
  }
  return cluster;
}

template <typename Result>
Result Checked(absl::StatusOr<Result> result) {
  if (!result.ok()) {
    std::cerr << result.status() << "\n";
    std::exit(1);
  }
  return *std::move(result);
}

// Arguments: stages, replicas, doubtful. A quarter more nodes than needed.
void ScoreThousand(benchmark::State& state) {
  ScoreRequest request;
  request.job = JobOf(state.range(0), state.range(1), 2 * state.range(0));
  const int64_t needed = state.range(0) * state.range(1);
  request.cluster = ClusterOf(needed * 5 / 4, state.range(2) != 0);
  std::mt19937_64 random(2);
  NodeList nodes(static_cast<size_t>(request.cluster.nodes));
  std::iota(nodes.begin(), nodes.end(), 0);
  for (int i = 0; i < 1000; ++i) {
    std::shuffle(nodes.begin(), nodes.end(), random);
    request.placements.emplace_back(nodes.begin(), nodes.begin() + needed);
  }
  base::InlineExecutor executor;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        Checked(ScorePlacements(request, base::UnlimitedBudget(), executor)));
  }
}
BENCHMARK(ScoreThousand)
    ->Args({8, 16, 0})
    ->Args({16, 128, 0})
    ->Args({8, 16, 1})
    ->Args({16, 128, 1})
    ->Unit(benchmark::kMillisecond);

// Arguments: stages, replicas, nodes.
void Optimize(benchmark::State& state) {
  OptimizeRequest request;
  request.job = JobOf(state.range(0), state.range(1), 4 * state.range(0));
  request.cluster = ClusterOf(state.range(2), false);
  base::InlineExecutor executor;
  double gap = 0;
  for (auto _ : state) {
    gap = Checked(OptimizePlacement(request, base::UnlimitedBudget(), executor))
              .gap;
  }
  state.counters["gap_percent"] = 100 * gap;
}
BENCHMARK(Optimize)
    ->Args({8, 16, 160})
    ->Args({16, 128, 2500})
    ->Unit(benchmark::kMillisecond);

void Rank(benchmark::State& state) {
  RankNodesRequest request;
  request.job = JobOf(16, 128, 64);
  request.cluster = ClusterOf(2500, true);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        Checked(RankNodes(request, base::UnlimitedBudget())));
  }
}
BENCHMARK(Rank)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace prism::placement
