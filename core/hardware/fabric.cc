#include "core/hardware/fabric.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

// How often a vector passes the ring: reduce-scatter, then all-gather.
double Passes(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce ? 2 : 1;
}

LinkTime Faster(const LinkTime& a, const LinkTime& b) {
  return a.seconds <= b.seconds ? a : b;
}

}  // namespace

Fabric::Fabric(const Cluster& cluster, const Accelerator& accelerator,
               const LinkSpeeds& speeds)
    : levels_(LevelsOf(cluster, accelerator)),
      gpus_(cluster.gpus()),
      gpus_per_node_(cluster.gpus_per_node),
      speeds_(speeds) {
  // The last level spans the cluster, whatever number it was given.
  levels_.back().gpus = std::max(levels_.back().gpus, cluster.gpus());
}

int64_t Fabric::Units(size_t level) const {
  const std::vector<int32_t>& unit_of_node = levels_[level].unit_of_node;
  if (unit_of_node.empty()) return (gpus_ - 1) / levels_[level].gpus + 1;
  return *std::max_element(unit_of_node.begin(), unit_of_node.end()) + 1;
}

double Fabric::RateOf(size_t level, double sharers, double bytes) const {
  const FabricLevel& link = levels_[level];
  const double rate = link.bytes_per_second / link.oversubscription;
  const double ramp =
      std::pow(speeds_.ramp_seconds * rate / std::max(bytes, 1.0),
               speeds_.ramp_exponent);
  return sharers * rate * speeds_.efficiency / (1 + ramp);
}

double Fabric::TransferRate(size_t level, double bytes) const {
  const double rate = RateOf(level, 1, bytes);
  if (level == 0) return rate;
  return rate * speeds_.transfer_efficiency / speeds_.efficiency;
}

// What crosses a level comes from one unit of the innermost, over the links of
// all members there; each gets its share of the level as if all others sent.
double Fabric::SharedRate(double bytes, const GroupShape& shape) const {
  double slowest = std::numeric_limits<double>::infinity();
  double sharers = 1;
  int64_t reached = 1;
  for (size_t level = 0; level < levels_.size(); ++level) {
    if (shape.in_unit[level] > reached) {
      slowest = std::min(slowest, RateOf(level, sharers, bytes));
      reached = shape.in_unit[level];
    }
    if (level == 0) sharers = static_cast<double>(shape.in_unit[0]);
  }
  return slowest;
}

double Fabric::LatencyOf(const GroupShape& shape) const {
  double latency = 0;
  int64_t sharers = 1;
  for (size_t level = 0; level < levels_.size(); ++level) {
    if (shape.in_unit[level] > sharers) {
      latency = std::max(latency, levels_[level].latency_seconds);
      sharers = shape.in_unit[level];
    }
  }
  return latency;
}

// One ring through all members: every step waits for its slowest link.
LinkTime Fabric::RingTime(CollectiveKind kind, double bytes,
                          const GroupShape& shape) const {
  const auto n = static_cast<double>(shape.members);
  const double latency = Passes(kind) * (n - 1) * LatencyOf(shape);
  return {
      latency + Passes(kind) * (n - 1) / n * bytes / SharedRate(bytes, shape),
      latency};
}

LinkTime Fabric::TreeTime(double bytes, const GroupShape& shape) const {
  const double latency =
      2 * std::log2(static_cast<double>(shape.members)) * LatencyOf(shape);
  return {latency + 2 * bytes / SharedRate(bytes, shape), latency};
}

// First inside the units of the innermost level, then between them: each member
// takes its share of what was gathered or reduced inside.
LinkTime Fabric::LevelByLevelTime(CollectiveKind kind, double bytes,
                                  const GroupShape& shape) const {
  LinkTime total;
  const auto inside = static_cast<double>(shape.in_unit[0]);
  const double units = static_cast<double>(shape.members) / inside;
  const double share = bytes / inside;
  double between = std::numeric_limits<double>::infinity();
  int64_t reached = shape.in_unit[0];
  for (size_t level = 1; level < levels_.size(); ++level) {
    if (shape.in_unit[level] <= reached) continue;
    reached = shape.in_unit[level];
    between = std::min(between, RateOf(level, 1, share));
  }
  const auto add = [&](double n, double moved, double rate, double latency) {
    if (n <= 1) return;
    const double waits = Passes(kind) * (n - 1) * latency;
    total.latency_seconds += waits;
    total.seconds += waits + Passes(kind) * (n - 1) / n * moved / rate;
  };
  add(inside, bytes, RateOf(0, 1, bytes), levels_[0].latency_seconds);
  add(units, share, between, LatencyOf(shape));
  return total;
}

LinkTime Fabric::CollectiveTime(CollectiveKind kind, double bytes,
                                const GroupShape& shape) const {
  if (shape.members <= 1) return {};
  LinkTime best = Faster(RingTime(kind, bytes, shape),
                         LevelByLevelTime(kind, bytes, shape));
  if (kind == CollectiveKind::kAllReduce) {
    best = Faster(best, TreeTime(bytes, shape));
  }
  best.seconds += speeds_.launch_seconds;
  best.latency_seconds += speeds_.launch_seconds;
  return best;
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

LinkTime Fabric::TransferTime(double bytes, int level) const {
  if (level == kSameGpu) return {};
  // Inside a node the node's links; between nodes every level outside it, up
  // to the one that joins the two.
  const auto top = static_cast<size_t>(level);
  double rate = TransferRate(top, bytes);
  double latency = levels_[top].latency_seconds;
  for (size_t inner = 1; inner < top; ++inner) {
    rate = std::min(rate, TransferRate(inner, bytes));
    latency = std::max(latency, levels_[inner].latency_seconds);
  }
  latency += speeds_.launch_seconds;
  return {latency + bytes / rate, latency};
}

}  // namespace prism::hardware
