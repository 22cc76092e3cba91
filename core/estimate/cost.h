// Cost: seconds of a job's operators and collectives on a cluster's hardware.
//
// Joins the shapes of core/workload with the speeds of core/hardware; knows
// where groups lie, not in which order anything runs. Immutable after
// construction; safe to share between threads.
#ifndef PRISM_CORE_ESTIMATE_COST_H_
#define PRISM_CORE_ESTIMATE_COST_H_

#include <absl/status/statusor.h>

#include <vector>

#include "core/estimate/rank_map.h"
#include "core/hardware/accelerator.h"
#include "core/hardware/fabric.h"
#include "core/hardware/operator_time.h"
#include "core/workload/operators.h"

namespace prism::estimate {

class Cost final {
 public:
  // Requires: valid values that fit each other, and an accelerator of the
  // catalogue.
  Cost(const workload::Job& job, const hardware::Cluster& cluster,
       const Placement& placement);

  // Nominal seconds of operators one after another.
  //
  // Errors: INTERNAL where one of them would be faster than the hardware.
  absl::StatusOr<double> OperatorSeconds(
      const std::vector<workload::Operator>& operators) const;

  // A collective over a tensor group; groups differ in where they lie, the
  // slowest counts.
  hardware::LinkTime TensorTime(const workload::Collective& collective) const;

  // A collective of `bytes` over the slowest data group of `stage`.
  hardware::LinkTime DataTime(hardware::CollectiveKind kind, double bytes,
                              int64_t stage) const;

  // Activations from `stage` to the next (from the last to the first), gathered
  // over the tensor group where they arrive in shares. Of the slowest replica.
  hardware::LinkTime BoundaryTime(int64_t stage) const;

  // Sum of the gradients of a tied embedding's two copies, on first and last
  // stage, of `bytes` each.
  hardware::LinkTime TiedCopyTime(double bytes) const;

  const RankMap& ranks() const { return ranks_; }
  hardware::Peak peak() const;

 private:
  absl::StatusOr<double> SecondsOf(const workload::Operator& op) const;
  hardware::NumberFormat FormatOf(const workload::Operator& op) const;

  const hardware::Accelerator& accelerator_;
  hardware::NumberFormat format_;
  RankMap ranks_;
  hardware::Fabric fabric_;
  hardware::OperatorModel operators_;
  workload::BoundaryTraffic boundary_;
  // Distinct shapes of the tensor groups, and of each stage's data groups.
  std::vector<hardware::GroupShape> tensor_shapes_;
  std::vector<std::vector<hardware::GroupShape>> data_shapes_;
};

// The format of the job's products.
hardware::NumberFormat FormatOf(workload::Precision precision);

}  // namespace prism::estimate

#endif  // PRISM_CORE_ESTIMATE_COST_H_
