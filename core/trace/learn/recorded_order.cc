#include "core/trace/learn/recorded_order.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/step/schedule.h"

namespace prism::trace {
namespace {

bool SameOperations(const step::PipelineOrder& a,
                    const step::PipelineOrder& b) {
  const auto same = [](const step::Operation& x, const step::Operation& y) {
    return x.phase == y.phase && x.virtual_stage == y.virtual_stage &&
           x.microbatch == y.microbatch;
  };
  if (a.stage_of != b.stage_of) return false;
  for (size_t s = 0; s < a.operations.size(); ++s) {
    if (!std::equal(a.operations[s].begin(), a.operations[s].end(),
                    b.operations[s].begin(), b.operations[s].end(), same))
      return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<step::PipelineOrder> RecordedOrder(const Observations& observed,
                                                  int microbatches) {
  const Sizes& sizes = observed.sizes;
  step::PipelineOrder order;
  order.microbatches = microbatches;
  for (int u = 0; u < sizes.pipeline * sizes.chunks; ++u)
    order.stage_of.push_back(u % sizes.pipeline);
  order.operations.resize(static_cast<size_t>(sizes.pipeline));
  std::vector<Operation> computes;
  for (const Operation& operation : observed.operations) {
    if (IsCompute(operation.kind) && operation.replica == 0)
      computes.push_back(operation);
  }
  std::stable_sort(computes.begin(), computes.end(),
                   [](const Operation& a, const Operation& b) {
                     return a.start_seconds < b.start_seconds;
                   });
  for (const Operation& compute : computes) {
    step::Operation operation;
    operation.phase = compute.kind == OperationKind::kForwardCompute
                          ? step::Phase::kForward
                          : step::Phase::kBackward;
    operation.microbatch =
        compute.microbatch == kNone ? compute.sequence : compute.microbatch;
    operation.virtual_stage =
        std::max<int>(compute.chunk, 0) * sizes.pipeline + compute.stage;
    order.operations[static_cast<size_t>(compute.stage)].push_back(operation);
  }
  if (absl::Status status = step::Validate(order); !status.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("has no order that a profile could have: ",
                     std::string(status.message())));
  }
  return order;
}

void SetSchedule(const step::PipelineOrder& order, step::StepProfile& profile) {
  using step::ScheduleKind;
  for (const ScheduleKind kind :
       {ScheduleKind::kOneForwardOneBackward, ScheduleKind::kGpipe,
        ScheduleKind::kInterleaved, ScheduleKind::kBreadthFirst}) {
    if (!step::CheckShape(kind, profile.shape()).empty()) continue;
    const auto known = step::MakeOrder(kind, profile.shape());
    if (!known.ok() || !SameOperations(*known, order)) continue;
    profile.schedule = kind;
    return;
  }
  profile.schedule = ScheduleKind::kCustom;
  profile.order = order.operations;
  profile.stage_of = order.stage_of;
}

}  // namespace prism::trace
