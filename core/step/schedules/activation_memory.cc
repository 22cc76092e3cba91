#include "core/step/schedules/activation_memory.h"

#include <algorithm>

#include "core/base/check.h"

namespace prism::step {
namespace {

double Change(Phase phase, const ActivationSize& size) {
  switch (phase) {
    case Phase::kForward:
      return size.whole;
    case Phase::kBackward:
      return -size.whole;
    case Phase::kBackwardInput:
      return size.for_weight - size.whole;
    case Phase::kBackwardWeight:
      return -size.for_weight;
  }
  return 0;
}

}  // namespace

std::vector<double> PeakActivations(const PipelineOrder& order,
                                    const std::vector<ActivationSize>& sizes) {
  PRISM_CHECK(sizes.size() == order.stage_of.size());
  std::vector<double> peaks;
  for (const auto& operations : order.operations) {
    double now = 0, peak = 0;
    for (const Operation& op : operations) {
      now += Change(op.phase, sizes[op.virtual_stage]);
      peak = std::max(peak, now);
    }
    peaks.push_back(peak);
  }
  return peaks;
}

std::vector<double> PeakMicrobatches(const PipelineOrder& order,
                                     double for_weight) {
  const double whole =
      static_cast<double>(order.stages()) / order.chain_length();
  return PeakActivations(
      order, std::vector<ActivationSize>(order.stage_of.size(),
                                         {whole, whole * for_weight}));
}

}  // namespace prism::step
