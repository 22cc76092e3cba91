#include <absl/strings/str_cat.h>

#include <map>
#include <string_view>

#include "core/hardware/accelerator.h"
#include "core/query/node.h"
#include "core/query/read_fabric.h"
#include "core/query/read_job.h"
#include "core/query/read_node_states.h"

namespace prism::query {
namespace {

using hardware::Cluster;

constexpr int64_t kMostNodes = 1 << 20;
constexpr int64_t kMostGpusPerNode = 1024;
constexpr int64_t kDefaultGpusPerNode = 8;

std::string ReadAccelerator(const std::string& name, const FieldPath& path,
                            Checker& checker) {
  if (hardware::FindAccelerator(name) == nullptr) {
    checker.Fail(
        path, absl::StrCat("is ", name.empty() ? "missing" : Quote(name),
                           "; must be one of ", hardware::AcceleratorNames()));
  }
  return name;
}

std::vector<std::string> ReadNodeNames(const prism::v1::Cluster& message,
                                       int64_t nodes, const FieldPath& list,
                                       Checker& checker) {
  const auto& names = message.node_names();
  checker.Require(names.empty() || names.size() == nodes, list,
                  absl::StrCat("has ", names.size(),
                               " entries; must have one for each of the ",
                               nodes, " nodes, or none"));
  std::map<std::string_view, int> seen;
  for (int i = 0; i < names.size(); ++i) {
    checker.Require(!names[i].empty(), list.Item(i), "is empty");
    const auto [first, is_new] = seen.insert({names[i], i});
    checker.Require(is_new, list.Item(i),
                    absl::StrCat("is ", Quote(names[i]), ", as is node_names[",
                                 first->second, "]; give each name once"));
  }
  return {names.begin(), names.end()};
}

}  // namespace

Cluster ReadCluster(const prism::v1::Cluster& message, const FieldPath& path,
                    Checker& checker) {
  Cluster cluster;
  cluster.accelerator = ReadAccelerator(message.accelerator(),
                                        path.Field("accelerator"), checker);
  cluster.nodes =
      checker.Between(message.nodes(), 1, kMostNodes, path.Field("nodes"));
  cluster.gpus_per_node =
      checker.BetweenOr(message.gpus_per_node(), kDefaultGpusPerNode, 1,
                        kMostGpusPerNode, path.Field("gpus_per_node"));
  cluster.fabric = ReadFabric(message, cluster.nodes, cluster.gpus_per_node,
                              path.Field("fabric"), checker);
  cluster.node_states = ReadNodeStates(message.node_states(), cluster.nodes,
                                       path.Field("node_states"), checker);
  cluster.path_states = ReadPathStates(message.path_states(), cluster.nodes,
                                       path.Field("path_states"), checker);
  cluster.reliability = ReadReliability(message.reliability(),
                                        path.Field("reliability"), checker);
  cluster.node_names =
      ReadNodeNames(message, cluster.nodes, path.Field("node_names"), checker);
  return cluster;
}

}  // namespace prism::query
