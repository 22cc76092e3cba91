#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "core/hardware/accelerator.h"
#include "core/hardware/fabric.h"
#include "core/query/limits.h"
#include "core/query/node.h"
#include "core/query/read_job.h"

namespace prism::query {
namespace {

using hardware::Cluster;
using hardware::FabricLevel;

constexpr int64_t kMostNodes = 1 << 20;
constexpr int64_t kMostGpusPerNode = 1024;
constexpr int64_t kDefaultGpusPerNode = 8;
constexpr int kMostLevels = 16;

class ClusterReader {
 public:
  ClusterReader(const prism::v1::Cluster& message, const FieldPath& path,
                Checker& checker)
      : message_(message), path_(path), checker_(checker) {}

  Cluster Read() {
    ReadAccelerator();
    cluster_.nodes =
        checker_.Between(message_.nodes(), 1, kMostNodes, path_.Field("nodes"));
    cluster_.gpus_per_node =
        checker_.BetweenOr(message_.gpus_per_node(), kDefaultGpusPerNode, 1,
                           kMostGpusPerNode, path_.Field("gpus_per_node"));
    ReadFabric();
    ReadNodeStates();
    return std::move(cluster_);
  }

 private:
  void ReadAccelerator() {
    cluster_.accelerator = message_.accelerator();
    if (hardware::FindAccelerator(cluster_.accelerator) != nullptr) return;
    const std::string shown =
        cluster_.accelerator.empty() ? "missing" : Quote(cluster_.accelerator);
    checker_.Fail(path_.Field("accelerator"),
                  absl::StrCat("is ", shown, "; must be one of ",
                               hardware::AcceleratorNames()));
  }

  void ReadFabric() {
    const FieldPath path = path_.Field("fabric");
    const int levels = message_.fabric_size();
    if (!checker_.Require(
            levels <= kMostLevels, path,
            absl::StrCat("has ", levels, " levels; must have at most ",
                         kMostLevels))) {
      return;
    }
    for (int i = 0; i < levels; ++i) {
      cluster_.fabric.push_back(ReadLevel(i, path.Item(i)));
    }
  }

  FabricLevel ReadLevel(int index, const FieldPath& path) {
    const auto& m = message_.fabric(index);
    FabricLevel level;
    level.name = m.name();
    level.gpus = ReadSpan(index, path.Field("gpus"));
    level.bytes_per_second =
        1e9 * checker_.Above(m.gigabytes_per_second(), 0,
                             path.Field("gigabytes_per_second"));
    level.latency_seconds =
        m.has_latency_microseconds()
            ? 1e-6 * checker_.AtLeast(m.latency_microseconds(), 0,
                                      path.Field("latency_microseconds"))
            : UsualLatency(index, level.gpus);
    if (m.oversubscription() != 0) {
      level.oversubscription = checker_.AtLeast(m.oversubscription(), 1,
                                                path.Field("oversubscription"));
    }
    return level;
  }

  // GPUs under one unit of level `index`. The last level spans the cluster:
  // as many units of the level before as hold all GPUs.
  int64_t ReadSpan(int index, const FieldPath& path) {
    const bool last = index + 1 == message_.fabric_size();
    const int64_t before = index == 0 ? 1 : cluster_.fabric.back().gpus;
    const int64_t all = (cluster_.gpus() + before - 1) / before * before;
    const int64_t most = std::max(all, kMostRanks);
    const uint32_t value = message_.fabric(index).gpus();
    if (last && value == 0) return all;
    const int64_t gpus = checker_.Between(value, 1, most, path);
    checker_.Divides(before, "gpus of the level before", gpus, path);
    checker_.Require(!last || gpus >= cluster_.gpus(), path,
                     absl::StrCat("is ", gpus,
                                  "; must be 0 or at least the GPUs of the "
                                  "cluster at the last level, which are ",
                                  cluster_.gpus()));
    return gpus;
  }

  double UsualLatency(int index, int64_t gpus) const {
    const bool inside = gpus <= cluster_.gpus_per_node ||
                        (index == 0 && message_.fabric_size() > 1);
    return inside ? hardware::kNodeLinkLatencySeconds
                  : hardware::kNetworkLatencySeconds;
  }

  void ReadNodeStates() {
    const FieldPath path = path_.Field("node_states");
    std::map<int64_t, int> seen;
    for (int i = 0; i < message_.node_states_size(); ++i) {
      const auto& m = message_.node_states(i);
      const FieldPath item = path.Item(i);
      CheckNode(m.node(), item.Field("node"));
      const auto [first, is_new] = seen.insert({m.node(), i});
      checker_.Require(is_new, item.Field("node"),
                       absl::StrCat("is ", m.node(), ", as is node_states[",
                                    first->second, "]; give each node once"));
      if (m.slowdown() == 0) continue;
      cluster_.node_states.push_back(
          {.node = m.node(),
           .slowdown =
               checker_.Above(m.slowdown(), 0, item.Field("slowdown"))});
    }
    std::sort(cluster_.node_states.begin(), cluster_.node_states.end(),
              [](const auto& a, const auto& b) { return a.node < b.node; });
  }

  void CheckNode(int64_t node, const FieldPath& path) {
    checker_.Require(
        node < cluster_.nodes, path,
        absl::StrCat("is ", node, "; must be from 0 to ", cluster_.nodes - 1));
  }

  const prism::v1::Cluster& message_;
  const FieldPath& path_;
  Checker& checker_;
  Cluster cluster_;
};

bool IsFirstNodes(const std::vector<int64_t>& nodes) {
  std::vector<int64_t> first(nodes.size());
  std::iota(first.begin(), first.end(), 0);
  return nodes == first;
}

}  // namespace

Cluster ReadCluster(const prism::v1::Cluster& message, const FieldPath& path,
                    Checker& checker) {
  return ClusterReader(message, path, checker).Read();
}

estimate::Placement ReadPlacement(const prism::v1::Placement& message,
                                  const Cluster& cluster, int64_t gpus,
                                  const FieldPath& path, Checker& checker) {
  if (message.nodes().empty()) return {};
  const FieldPath list = path.Field("nodes");
  const int64_t needed =
      (gpus + cluster.gpus_per_node - 1) / cluster.gpus_per_node;
  checker.Require(
      message.nodes_size() == needed, list,
      absl::StrCat("has ", message.nodes_size(), " nodes; must have ", needed,
                   " for ", gpus, " GPUs with ", cluster.gpus_per_node,
                   " in a node"));
  std::map<int64_t, int> seen;
  estimate::Placement placement;
  for (int i = 0; i < message.nodes_size(); ++i) {
    const int64_t node = message.nodes(i);
    checker.Require(
        node < cluster.nodes, list.Item(i),
        absl::StrCat("is ", node, "; must be from 0 to ", cluster.nodes - 1));
    const auto [first, is_new] = seen.insert({node, i});
    checker.Require(is_new, list.Item(i),
                    absl::StrCat("is ", node, ", as is nodes[", first->second,
                                 "]; give each node once"));
    placement.nodes.push_back(node);
  }
  if (IsFirstNodes(placement.nodes)) placement.nodes.clear();
  return placement;
}

}  // namespace prism::query
