// Job orders: the pipeline orders of jobs' schedules.
#ifndef PRISM_CORE_ESTIMATE_JOB_ORDER_H_
#define PRISM_CORE_ESTIMATE_JOB_ORDER_H_

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstdint>
#include <memory>

#include "core/step/schedule.h"
#include "core/step/schedules/pipeline_order.h"
#include "core/workload/job.h"

namespace prism::estimate {

// What the step graph calls a job's schedule, and the shape of its pipeline.
step::ScheduleKind ScheduleOf(workload::Schedule schedule);
step::PipelineShape PipelineShapeOf(const workload::Job& job);

// Keeps orders between calls: not thread-safe.
class JobOrders final {
 public:
  // Its virtual stages lie as workload/stages.h says. Lives as long as this.
  //
  // Requires: the job is valid, and its order needs no times to be found: not
  // kZeroBubbleAuto.
  const step::PipelineOrder& OrderOf(const workload::Job& job);

 private:
  using Key = std::array<int64_t, 4>;

  absl::flat_hash_map<Key, std::unique_ptr<step::PipelineOrder>> known_;
};

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_JOB_ORDER_H_
