#include "core/placement/test_support.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/check.h"

namespace prism::placement {

workload::Job TestJob(const JobSize& size) {
  workload::Job job;
  job.model = {.layers = 2 * size.pipeline * size.virtual_stages,
               .hidden = 4096,
               .heads = 32,
               .kv_heads = 32,
               .head_size = 128,
               .ffn_hidden = 16384,
               .vocabulary = 1024};
  job.parallelism.tensor = size.tensor;
  job.parallelism.pipeline = size.pipeline;
  job.parallelism.data = size.data;
  job.parallelism.virtual_stages = size.virtual_stages;
  if (size.virtual_stages > 1) {
    job.parallelism.schedule = workload::Schedule::kInterleaved;
  }
  job.training.sequence = 2048;
  job.training.global_batch = size.microbatches * size.data;
  return job;
}

hardware::Cluster TestCluster(int64_t nodes, int64_t gpus_per_node,
                              int64_t leaf_nodes) {
  hardware::Cluster cluster;
  cluster.accelerator = "a100-80gb-sxm";
  cluster.nodes = nodes;
  cluster.gpus_per_node = gpus_per_node;
  const int64_t leaf = gpus_per_node * leaf_nodes;
  cluster.fabric = {{.name = "node",
                     .gpus = gpus_per_node,
                     .bytes_per_second = 300e9,
                     .latency_seconds = 0.5e-6},
                    {.name = "leaf",
                     .gpus = leaf,
                     .bytes_per_second = 25e9,
                     .latency_seconds = 3e-6},
                    {.name = "top",
                     .gpus = (nodes + leaf_nodes - 1) / leaf_nodes * leaf,
                     .bytes_per_second = 25e9,
                     .latency_seconds = 5e-6,
                     .oversubscription = 2}};
  return cluster;
}

hardware::Cluster FlatCluster(int64_t nodes, int64_t gpus_per_node) {
  hardware::Cluster cluster = TestCluster(nodes, gpus_per_node, nodes);
  cluster.fabric.pop_back();
  return cluster;
}

void SetSpeeds(double spread, uint64_t seed, hardware::Cluster& cluster) {
  std::mt19937_64 random(seed);
  std::normal_distribution<> normal;
  cluster.node_states.clear();
  for (int64_t node = 0; node < cluster.nodes; ++node) {
    hardware::NodeState state;
    state.node = node;
    state.slowdown = 1 + spread * std::abs(normal(random));
    cluster.node_states.push_back(std::move(state));
  }
}

std::unique_ptr<JobModel> TestModel(const workload::Job& job,
                                    const hardware::Cluster& cluster) {
  auto model = JobModel::Create(job, cluster, 7);
  PRISM_CHECK(model.ok());
  return *std::move(model);
}

NodeList RandomNodes(const hardware::Cluster& cluster, int count,
                     std::mt19937_64& random) {
  NodeList nodes(static_cast<size_t>(cluster.nodes));
  std::iota(nodes.begin(), nodes.end(), 0);
  std::shuffle(nodes.begin(), nodes.end(), random);
  nodes.resize(static_cast<size_t>(count));
  return nodes;
}

}  // namespace prism::placement
