// Cluster: equal nodes under a fabric of nested levels, and what tells single
// nodes apart.
//
// Plain values; query builds them from messages and checks what is named here.
#ifndef PRISM_CORE_HARDWARE_CLUSTER_H_
#define PRISM_CORE_HARDWARE_CLUSTER_H_

#include <cstdint>
#include <string>
#include <vector>

namespace prism::hardware {

// One level of the fabric: what `gpus` GPUs share.
struct FabricLevel {
  std::string name;
  int64_t gpus = 1;  // under one unit; a multiple of the level before
  double bytes_per_second = 0;  // of one GPU in one direction, above 0
  double latency_seconds = 0;   // of an empty message, at least 0
  double oversubscription = 1;  // at least 1
};

struct NodeState {
  int64_t node = 0;
  double slowdown = 1;  // factor on compute time, above 0
};

struct Cluster {
  std::string accelerator;  // a name of the catalogue
  int64_t nodes = 1;
  int64_t gpus_per_node = 8;
  // Innermost first, the last spans the cluster. Empty: the catalogue's links
  // of the accelerator.
  std::vector<FabricLevel> fabric;
  // Nodes that differ, by node, each once.
  std::vector<NodeState> node_states;

  int64_t gpus() const { return nodes * gpus_per_node; }
};

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_CLUSTER_H_
