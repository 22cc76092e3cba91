#include "core/hardware/fabric.h"

#include <algorithm>

#include "core/hardware/link_spread.h"

namespace prism::hardware {
namespace {

std::vector<FabricLevel> LevelsOf(const Cluster& cluster,
                                  const Accelerator& accelerator) {
  if (!cluster.fabric.empty()) return cluster.fabric;
  // A rack of linked nodes, where the accelerator has them and nodes fill it.
  const bool rack = accelerator.node_link_gpus > cluster.gpus_per_node &&
                    accelerator.node_link_gpus % cluster.gpus_per_node == 0;
  const int64_t linked =
      rack ? accelerator.node_link_gpus : cluster.gpus_per_node;
  std::vector<FabricLevel> levels = {
      {.name = "node",
       .gpus = linked,
       .bytes_per_second = accelerator.node_link_bytes_per_second,
       .latency_seconds = kNodeLinkLatencySeconds}};
  if (cluster.gpus() > linked) {
    levels.push_back({.name = "network",
                      .gpus = cluster.gpus(),
                      .bytes_per_second = accelerator.network_bytes_per_second,
                      .latency_seconds = kNetworkLatencySeconds});
  }
  return levels;
}

// Levels of a node or rack: the innermost, unless nodes have one GPU and no
// rack links them, and all others no wider than a node.
size_t NodeLevels(const std::vector<FabricLevel>& levels,
                  const Cluster& cluster, const Accelerator& accelerator) {
  const bool linked = cluster.gpus_per_node > 1 ||
                      levels[0].gpus <= cluster.gpus_per_node ||
                      accelerator.node_link_gpus > 1;
  if (!linked) return 0;
  size_t count = 1;
  while (count < levels.size() && levels[count].unit_of_node.empty() &&
         levels[count].gpus <= cluster.gpus_per_node) {
    ++count;
  }
  return count;
}

}  // namespace

Fabric::Fabric(const Cluster& cluster, const Accelerator& accelerator,
               const LinkSpeeds& speeds)
    : levels_(LevelsOf(cluster, accelerator)),
      node_levels_(NodeLevels(levels_, cluster, accelerator)),
      gpus_(cluster.gpus()),
      gpus_per_node_(cluster.gpus_per_node),
      speeds_(speeds),
      node_speeds_(NodeSpeedsOf(speeds, accelerator)),
      in_switch_(SwitchesReduce(accelerator)) {
  // The last level spans the cluster, whatever number it was given.
  levels_.back().gpus = std::max(levels_.back().gpus, cluster.gpus());
}

int64_t Fabric::Units(size_t level) const {
  const std::vector<int32_t>& unit_of_node = levels_[level].unit_of_node;
  if (unit_of_node.empty()) return (gpus_ - 1) / levels_[level].gpus + 1;
  return *std::max_element(unit_of_node.begin(), unit_of_node.end()) + 1;
}

CollectiveCurve Fabric::CurveOf(CollectiveKind kind,
                                const GroupShape& shape) const {
  return hardware::CurveOf(kind, SpanOf(levels_, node_levels_, shape), speeds_,
                           node_speeds_, in_switch_);
}

LinkTime Fabric::CollectiveTime(CollectiveKind kind, double bytes,
                                const GroupShape& shape) const {
  LinkTime time = CurveOf(kind, shape).At(bytes);
  if (time.seconds <= 0) return time;
  const int64_t in_node =
      node_levels_ > 0 ? shape.in_unit[node_levels_ - 1] : 1;
  if (shape.members > in_node) {
    time.stalls = StallsOf(static_cast<double>(shape.members) /
                           static_cast<double>(in_node));
  }
  return time;
}

int Fabric::LevelOf(int64_t from, int64_t to) const {
  if (from == to) return kSameGpu;
  const size_t last = levels_.size() - 1;
  for (size_t level = 0; level < last; ++level) {
    if (UnitOf(level, from) == UnitOf(level, to)) {
      return static_cast<int>(level);
    }
  }
  return static_cast<int>(last);
}

CollectiveCurve Fabric::TransferCurve(int level) const {
  CollectiveCurve curve;
  if (level == kSameGpu) return curve;
  // Inside a node the level that joins the two; between nodes every level
  // outside it, up to that one.
  const auto top = static_cast<size_t>(level);
  const bool inside = top < node_levels_;
  double seconds_per_byte = 0;
  double latency = 0;
  for (size_t i = inside ? top : node_levels_; i <= top; ++i) {
    const FabricLevel& link = levels_[i];
    seconds_per_byte = std::max(seconds_per_byte,
                                link.oversubscription / link.bytes_per_second);
    latency = std::max(latency, link.latency_seconds);
  }
  const auto add = [&](const ProtocolSpeeds& speeds) {
    curve.Add(speeds.start_seconds + latency + speeds.hop_seconds,
              seconds_per_byte / speeds.share, speeds.ramp_seconds);
  };
  if (inside) {
    add(speeds_.node_transfer);
    add(speeds_.node_bulk_transfer);
  } else {
    add(speeds_.network.transfer);
  }
  return curve;
}

}  // namespace prism::hardware
