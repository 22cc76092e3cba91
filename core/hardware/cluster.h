// Cluster: equal nodes under a fabric of nested levels, and what tells single
// nodes apart.
//
// Plain values; query builds them from messages and checks what is named here.
#ifndef PRISM_CORE_HARDWARE_CLUSTER_H_
#define PRISM_CORE_HARDWARE_CLUSTER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/stats/distribution.h"

namespace prism::hardware {

// One level of the fabric: what `gpus` GPUs share.
struct FabricLevel {
  std::string name;
  int64_t gpus = 1;  // under one unit; a multiple of the level before
  double bytes_per_second = 0;  // of one GPU in one direction, above 0
  double latency_seconds = 0;   // of an empty message, at least 0
  double oversubscription = 1;  // at least 1
  // Node -> its unit of this level; empty: units of `gpus` GPUs in a row. With
  // it, `gpus` is what the fullest unit holds.
  std::vector<int32_t> unit_of_node = {};
};

enum class Health { kHealthy, kDegraded, kDrained, kFailed };

struct NodeState {
  int64_t node = 0;
  // Factor on compute time, above 0. It takes the place of what is assumed of
  // GPUs that nobody measured. Unset: nobody did.
  std::optional<double> slowdown = {};
  // The same where it is not known exactly; `slowdown` is then its mean.
  std::optional<stats::Distribution> measured_slowdown = {};
  Health health = Health::kHealthy;
  std::optional<double> failures_per_day = {};  // at least 0
};

// The connection of two nodes, in both directions.
struct PathState {
  int64_t from = 0;  // less than `to`
  int64_t to = 0;
  double slowdown = 1;  // factor on the time of transfers, above 0
  // The same where it is not known exactly; `slowdown` is then its mean.
  std::optional<stats::Distribution> measured_slowdown = {};
};

// Unset members mean the usual figures of docs/model/completion.md.
struct Reliability {
  std::optional<double> failures_per_node_day;  // at least 0
  std::optional<double> rate_cv;                // over nodes, at least 0
  std::optional<stats::Distribution> repair_seconds;
  std::optional<double> node_loss_share;  // of failures, 0 to 1
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
  // Pairs that differ, by `from` and `to`, each once.
  std::vector<PathState> path_states;
  Reliability reliability;
  // By node; empty: nodes have numbers alone.
  std::vector<std::string> node_names;

  int64_t gpus() const { return nodes * gpus_per_node; }
};

}  // namespace prism::hardware

#endif  // PRISM_CORE_HARDWARE_CLUSTER_H_
