// OrderOf(): from a profile's schedule to the order of its operations.

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/step/schedules/automatic.h"
#include "core/step/schedules/placement.h"
#include "core/step/step_profile.h"

namespace prism::step {
namespace {

double StatedMs(const std::vector<ProfileSegment>& segments, double scale) {
  double sum = 0;
  for (const ProfileSegment& segment : segments) {
    sum += static_cast<double>(segment.count) *
           (segment.compute.StatedMean() * scale +
            segment.collective.StatedMean());
  }
  return sum;
}

PipelinePieces PiecesOf(const StepProfile& profile) {
  const int count = profile.pipeline * profile.virtual_stages;
  PipelinePieces pieces{.stages = profile.pipeline,
                        .chunks = profile.virtual_stages,
                        .microbatches = profile.microbatches,
                        .times = {},
                        .sizes = {}};
  for (int u = 0; u < count; ++u) {
    const double scale =
        profile.stage_scale.empty() ? 1 : profile.stage_scale[u];
    pieces.times.forward.push_back(StatedMs(profile.forward, scale));
    pieces.times.backward.push_back(StatedMs(profile.backward_input, scale));
    pieces.times.weight.push_back(StatedMs(profile.backward_weight, scale));
    const double size = 1.0 / profile.virtual_stages;
    pieces.sizes.push_back({.whole = size, .for_weight = size});
  }
  pieces.times.hop.assign(count - 1, profile.transfer.StatedMean());
  return pieces;
}

absl::StatusOr<PipelineOrder> FoundFor(const StepProfile& profile) {
  const double plain = std::min(profile.pipeline, profile.microbatches);
  const PipelinePieces pieces = PiecesOf(profile);
  SearchLimits limits;
  limits.memory = profile.activation_limit.value_or(plain);
  auto found = SearchOrder(pieces, limits);
  if (!found.ok()) return found.status();
  return InPieces(pieces, found->order);
}

absl::StatusOr<PipelineOrder> GivenBy(const StepProfile& profile) {
  PipelineOrder order = LoopedPlacement(
      profile.pipeline, profile.virtual_stages, profile.microbatches);
  if (!profile.stage_of.empty()) order.stage_of = profile.stage_of;
  order.operations = profile.order;
  if (auto status = Validate(order); !status.ok()) return status;
  return order;
}

}  // namespace

absl::StatusOr<PipelineOrder> OrderOf(const StepProfile& profile) {
  if (profile.schedule == ScheduleKind::kAutomatic) return FoundFor(profile);
  if (profile.schedule == ScheduleKind::kCustom) return GivenBy(profile);
  return MakeOrder(profile.schedule, profile.shape());
}

}  // namespace prism::step
