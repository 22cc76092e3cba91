// Cost: seconds of a job's operators and collectives on a cluster's hardware.
//
// Joins the sizes of core/workload with the speeds of core/hardware; knows
// where groups lie, not in which order anything runs. Immutable after
// construction; safe to share between threads.
#ifndef PRISM_CORE_ESTIMATE_COST_H_
#define PRISM_CORE_ESTIMATE_COST_H_

#include <absl/status/statusor.h>

#include <vector>

#include "core/calibration/constants.h"
#include "core/estimate/placement_shape.h"
#include "core/hardware/accelerator.h"
#include "core/hardware/fabric.h"
#include "core/hardware/operator_time.h"
#include "core/workload/operators.h"

namespace prism::estimate {

class Cost final {
 public:
  // Requires: valid values that fit each other, and an accelerator of the
  // catalogue; `shape` is that of a placement of `job` on `cluster`.
  Cost(const workload::Job& job, const hardware::Cluster& cluster,
       PlacementShape shape, const calibration::Constants& constants = {});

  // Nominal seconds of operators one after another.
  //
  // Errors: INTERNAL where one of them would be faster than the hardware.
  absl::StatusOr<double> OperatorSeconds(
      const std::vector<workload::Operator>& operators) const;

  // Seconds of those of `operators` that are matrix products: of the first,
  // and of the last.
  struct EndProducts {
    double first = 0;
    double last = 0;
  };
  EndProducts ProductSeconds(
      const std::vector<workload::Operator>& operators) const;

  // A collective of its group, of stage `stage` where that matters; groups
  // differ in where they lie, the slowest counts. 0 for groups of one rank.
  hardware::LinkTime CollectiveTime(const workload::Collective& collective,
                                    int64_t stage = 0) const;

  // What `collective` takes from the GPUs that run it, in seconds of their
  // links at full rate: how long it would last inside a node.
  double LinkSeconds(const workload::Collective& collective) const;

  // Activations over boundary `stage` (workload::BoundaryBehind), gathered over
  // the tensor group where they arrive in shares. Of the slowest replica.
  // Requires: the shape has that boundary.
  hardware::LinkTime BoundaryTime(int64_t stage) const;
  // Boundaries of the shape.
  int64_t boundaries() const {
    return static_cast<int64_t>(shape_.boundaries.size());
  }

  // Sum of the gradients of a tied embedding's two copies, on first and last
  // stage, of `bytes` each.
  hardware::LinkTime TiedCopyTime(double bytes) const;

  // Sum of `bytes` of gradients that `stage` and its twin both hold. Requires:
  // the shape has twins.
  hardware::LinkTime TwinTime(int64_t stage, double bytes) const;

  hardware::Peak peak() const;
  const calibration::Constants& constants() const { return constants_; }

 private:
  absl::StatusOr<double> SecondsOf(const workload::Operator& op) const;
  double NominalSecondsOf(const workload::Operator& op) const;
  const std::vector<PlacedGroup>& GroupsOf(workload::Group group,
                                           int64_t stage) const;
  hardware::LinkTime TimeOver(const workload::Collective& collective,
                              const PlacedGroup& group) const;
  hardware::LinkTime PairTime(const std::vector<PlacedGroup>& pairs,
                              double bytes) const;
  hardware::NumberFormat FormatOf(const workload::Operator& op) const;

  const hardware::Accelerator& accelerator_;
  const calibration::Constants constants_;
  hardware::NumberFormat format_;
  PlacementShape shape_;
  hardware::Fabric fabric_;
  hardware::OperatorModel operators_;
  workload::BoundaryTraffic boundary_;
};

// The format of the job's products.
hardware::NumberFormat FormatOf(workload::Precision precision);

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_COST_H_
