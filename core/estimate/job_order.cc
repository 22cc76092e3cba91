#include "core/estimate/job_order.h"

#include <absl/status/statusor.h>

#include <utility>

#include "core/base/check.h"

namespace prism::estimate {

step::ScheduleKind ScheduleOf(workload::Schedule schedule) {
  using step::ScheduleKind;
  using workload::Schedule;
  switch (schedule) {
    case Schedule::kGpipe:
      return ScheduleKind::kGpipe;
    case Schedule::kOneForwardOneBackward:
      return ScheduleKind::kOneForwardOneBackward;
    case Schedule::kInterleaved:
      return ScheduleKind::kInterleaved;
    case Schedule::kBreadthFirst:
      return ScheduleKind::kBreadthFirst;
    case Schedule::kZeroBubbleH1:
      return ScheduleKind::kZeroBubbleH1;
    case Schedule::kZeroBubbleH2:
      return ScheduleKind::kZeroBubbleH2;
    case Schedule::kZeroBubbleV:
      return ScheduleKind::kZeroBubbleV;
    case Schedule::kHalfMemoryV:
      return ScheduleKind::kHalfMemoryV;
    case Schedule::kThirdMemoryV:
      return ScheduleKind::kThirdMemoryV;
    case Schedule::kDualPipe:
      return ScheduleKind::kDualPipe;
    case Schedule::kDualPipeV:
      return ScheduleKind::kDualPipeV;
    case Schedule::kZeroBubbleAuto:
      return ScheduleKind::kAutomatic;
  }
  return ScheduleKind::kOneForwardOneBackward;
}

step::PipelineShape PipelineShapeOf(const workload::Job& job) {
  return {.stages = static_cast<int>(job.parallelism.pipeline),
          .chunks = static_cast<int>(job.parallelism.virtual_stages),
          .microbatches = static_cast<int>(job.microbatches())};
}

const step::PipelineOrder& JobOrders::OrderOf(const workload::Job& job) {
  const workload::Parallelism& split = job.parallelism;
  auto& order = known_[{static_cast<int64_t>(split.schedule), split.pipeline,
                        split.virtual_stages, job.microbatches()}];
  if (order == nullptr) {
    absl::StatusOr<step::PipelineOrder> made =
        step::MakeOrder(ScheduleOf(split.schedule), PipelineShapeOf(job));
    PRISM_CHECK(made.ok());
    order = std::make_unique<step::PipelineOrder>(*std::move(made));
  }
  return *order;
}

}  // namespace prism::estimate
