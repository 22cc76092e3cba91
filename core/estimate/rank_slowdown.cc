#include "core/estimate/rank_slowdown.h"

#include <algorithm>

namespace prism::estimate {
namespace {

// By slot of the placement: the node's factor, or kNotMeasured.
std::vector<double> SlotSlowdowns(const RankMap& ranks,
                                  const std::vector<double>& measured) {
  std::vector<double> slots;
  for (int64_t slot = 0; slot <= ranks.Slot(ranks.gpus() - 1); ++slot) {
    slots.push_back(measured[static_cast<size_t>(ranks.NodeOfSlot(slot))]);
  }
  return slots;
}

int64_t GpusNotMeasured(const RankMap& ranks,
                        const std::vector<double>& slots) {
  int64_t gpus = 0;
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot] == kNotMeasured) {
      gpus += ranks.GpusOfSlot(static_cast<int64_t>(slot));
    }
  }
  return gpus;
}

}  // namespace

std::vector<double> MeasuredSlowdowns(const hardware::Cluster& cluster) {
  std::vector<double> measured(static_cast<size_t>(cluster.nodes),
                               kNotMeasured);
  for (const hardware::NodeState& state : cluster.node_states) {
    measured[static_cast<size_t>(state.node)] =
        state.slowdown.value_or(kNotMeasured);
  }
  return measured;
}

std::vector<double> RankSlowdowns(const RankMap& ranks,
                                  const std::vector<double>& measured,
                                  const Variation& variation) {
  std::vector<double> slots = SlotSlowdowns(ranks, measured);
  const int64_t left = GpusNotMeasured(ranks, slots);
  if (left == ranks.gpus()) return {};
  const double assumed = SlowestFactor(ranks.gpus(), variation);
  const double prior = left == 0 ? 1 : SlowestFactor(left, variation);
  for (double& factor : slots) {
    factor = (factor == kNotMeasured ? prior : factor) / assumed;
  }
  std::vector<double> slowdown;
  slowdown.reserve(static_cast<size_t>(ranks.gpus()));
  for (int64_t replica = 0; replica < ranks.replicas(); ++replica) {
    for (int64_t stage = 0; stage < ranks.stages(); ++stage) {
      const int64_t first = ranks.LaunchedRank(replica, stage, 0);
      for (int64_t lane = 0; lane < ranks.lanes(); ++lane) {
        slowdown.push_back(
            slots[static_cast<size_t>(ranks.Slot(first + lane))]);
      }
    }
  }
  return slowdown;
}

}  // namespace prism::estimate
