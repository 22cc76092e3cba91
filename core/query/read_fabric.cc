#include "core/query/read_fabric.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/hardware/fabric.h"
#include "core/query/limits.h"

namespace prism::query {
namespace {

using hardware::FabricLevel;

constexpr int kMostLevels = 16;
constexpr int64_t kLargestUnit = (1 << 20) - 1;

class FabricReader {
 public:
  FabricReader(const prism::v1::Cluster& message, int64_t nodes,
               int64_t gpus_per_node, Checker& checker)
      : message_(message),
        nodes_(nodes),
        gpus_per_node_(gpus_per_node),
        checker_(checker) {}

  std::vector<FabricLevel> Read(const FieldPath& path) {
    const int levels = message_.fabric_size();
    if (!checker_.Require(
            levels <= kMostLevels, path,
            absl::StrCat("has ", levels, " levels; must have at most ",
                         kMostLevels))) {
      return {};
    }
    const int before = checker_.failures();
    for (int i = 0; i < levels; ++i) {
      fabric_.push_back(ReadLevel(i, path.Item(i)));
      // Units of wrong sizes need not nest.
      if (i > 0 && checker_.failures() == before) CheckNests(i, path.Item(i));
    }
    return std::move(fabric_);
  }

 private:
  int64_t gpus() const { return nodes_ * gpus_per_node_; }
  static bool Listed(const FabricLevel& level) {
    return !level.unit_of_node.empty();
  }

  FabricLevel ReadLevel(int index, const FieldPath& path) {
    const auto& m = message_.fabric(index);
    FabricLevel level;
    level.name = m.name();
    if (m.unit_of_node().empty()) {
      level.gpus = ReadSpan(index, path.Field("gpus"));
    } else {
      ReadUnits(index, path, level);
    }
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
    const bool after_listed = index > 0 && Listed(fabric_.back());
    const int64_t before = index == 0     ? 1
                           : after_listed ? gpus_per_node_
                                          : fabric_.back().gpus;
    const int64_t all = (gpus() + before - 1) / before * before;
    const int64_t most = std::max(all, kMostRanks);
    const uint32_t value = message_.fabric(index).gpus();
    if (last && value == 0) return all;
    const int64_t span = checker_.Between(value, 1, most, path);
    checker_.Divides(
        before, after_listed ? "gpus_per_node" : "gpus of the level before",
        span, path);
    checker_.Require(!last || span >= gpus(), path,
                     absl::StrCat("is ", span,
                                  "; must be 0 or at least the GPUs of the "
                                  "cluster at the last level, which are ",
                                  gpus()));
    return span;
  }

  void ReadUnits(int index, const FieldPath& path, FabricLevel& level) {
    const auto& m = message_.fabric(index);
    const FieldPath list = path.Field("unit_of_node");
    checker_.Require(m.gpus() == 0, path.Field("gpus"),
                     absl::StrCat("is ", m.gpus(),
                                  "; must be left out where unit_of_node lists "
                                  "the units"));
    checker_.Require(index + 1 < message_.fabric_size(), list,
                     "is not allowed at the last level, which spans the "
                     "cluster");
    checker_.Require(m.unit_of_node_size() == nodes_, list,
                     absl::StrCat("has ", m.unit_of_node_size(),
                                  " entries; must have one for each of the ",
                                  nodes_, " nodes"));
    std::map<int64_t, int32_t> number_of;
    std::vector<int64_t> nodes_in;
    for (int node = 0; node < m.unit_of_node_size(); ++node) {
      const int64_t unit = checker_.Between(m.unit_of_node(node), 0,
                                            kLargestUnit, list.Item(node));
      const auto [number, is_new] =
          number_of.insert({unit, static_cast<int32_t>(number_of.size())});
      if (is_new) nodes_in.push_back(0);
      ++nodes_in[static_cast<size_t>(number->second)];
      level.unit_of_node.push_back(number->second);
    }
    level.gpus =
        *std::max_element(nodes_in.begin(), nodes_in.end()) * gpus_per_node_;
  }

  // Regular levels nest by their sizes; where either is listed, every two
  // nodes of an inner unit must share the outer one.
  void CheckNests(int index, const FieldPath& path) {
    const FabricLevel& inner = fabric_[static_cast<size_t>(index) - 1];
    const FabricLevel& outer = fabric_[static_cast<size_t>(index)];
    const bool spans_cluster = index + 1 == message_.fabric_size();
    if (spans_cluster || (!Listed(inner) && !Listed(outer))) return;
    // Inner unit -> its first node.
    std::map<int64_t, int64_t> first;
    for (int64_t node = 0; node < nodes_; ++node) {
      for (const int64_t unit :
           {FirstUnit(inner, node), LastUnit(inner, node)}) {
        const int64_t other = first.insert({unit, node}).first->second;
        if (FirstUnit(outer, node) == FirstUnit(outer, other)) continue;
        FailToNest(other, node, outer, path);
        return;
      }
    }
  }

  // Units that hold the first and the last GPU of a node.
  int64_t FirstUnit(const FabricLevel& level, int64_t node) const {
    if (Listed(level)) return level.unit_of_node[static_cast<size_t>(node)];
    return node * gpus_per_node_ / level.gpus;
  }
  int64_t LastUnit(const FabricLevel& level, int64_t node) const {
    if (Listed(level)) return level.unit_of_node[static_cast<size_t>(node)];
    return ((node + 1) * gpus_per_node_ - 1) / level.gpus;
  }

  void FailToNest(int64_t node, int64_t other, const FabricLevel& outer,
                  const FieldPath& path) {
    const std::string description =
        absl::StrCat("parts nodes ", node, " and ", other,
                     ", which share a unit of the level before");
    const FieldPath list = path.Field("unit_of_node");
    if (Listed(outer)) {
      checker_.Fail(list.Item(other), description);
    } else {
      checker_.Fail(path.Field("gpus"), description);
    }
  }

  double UsualLatency(int index, int64_t gpus) const {
    const bool inside =
        gpus <= gpus_per_node_ || (index == 0 && message_.fabric_size() > 1);
    return inside ? hardware::kNodeLinkLatencySeconds
                  : hardware::kNetworkLatencySeconds;
  }

  const prism::v1::Cluster& message_;
  int64_t nodes_;
  int64_t gpus_per_node_;
  Checker& checker_;
  std::vector<FabricLevel> fabric_;
};

}  // namespace

std::vector<FabricLevel> ReadFabric(const prism::v1::Cluster& message,
                                    int64_t nodes, int64_t gpus_per_node,
                                    const FieldPath& path, Checker& checker) {
  return FabricReader(message, nodes, gpus_per_node, checker).Read(path);
}

}  // namespace prism::query
