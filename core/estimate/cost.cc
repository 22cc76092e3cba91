#include "core/estimate/cost.h"

#include <absl/status/status.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <set>

#include "core/base/check.h"

namespace prism::estimate {
namespace {

using hardware::GroupShape;
using hardware::LinkTime;
using hardware::NumberFormat;

// Rounding of sums and products, no more.
constexpr double kFloorTolerance = 1e-9;

const hardware::Accelerator& AcceleratorOf(const hardware::Cluster& cluster) {
  const hardware::Accelerator* found =
      hardware::FindAccelerator(cluster.accelerator);
  PRISM_CHECK(found != nullptr);
  return *found;
}

hardware::CollectiveKind KindOf(workload::CollectiveKind kind) {
  switch (kind) {
    case workload::CollectiveKind::kAllGather:
      return hardware::CollectiveKind::kAllGather;
    case workload::CollectiveKind::kReduceScatter:
      return hardware::CollectiveKind::kReduceScatter;
    case workload::CollectiveKind::kAllReduce:
      return hardware::CollectiveKind::kAllReduce;
  }
  return hardware::CollectiveKind::kAllReduce;
}

std::vector<GroupShape> TensorShapes(const RankMap& ranks,
                                     const hardware::Fabric& fabric) {
  std::set<GroupShape> shapes;
  for (int64_t replica = 0; replica < ranks.replicas(); ++replica) {
    for (int64_t stage = 0; stage < ranks.stages(); ++stage) {
      shapes.insert(fabric.ShapeOf(ranks.TensorGroup(replica, stage)));
    }
  }
  return {shapes.begin(), shapes.end()};
}

std::vector<GroupShape> DataShapes(const RankMap& ranks,
                                   const hardware::Fabric& fabric,
                                   int64_t stage) {
  std::set<GroupShape> shapes;
  for (int64_t lane = 0; lane < ranks.lanes(); ++lane) {
    shapes.insert(fabric.ShapeOf(ranks.DataGroup(stage, lane)));
  }
  return {shapes.begin(), shapes.end()};
}

LinkTime Slower(const LinkTime& a, const LinkTime& b) {
  return a.seconds >= b.seconds ? a : b;
}

LinkTime SlowestOf(const hardware::Fabric& fabric,
                   hardware::CollectiveKind kind, double bytes,
                   const std::vector<GroupShape>& shapes) {
  LinkTime slowest;
  for (const GroupShape& shape : shapes) {
    slowest = Slower(slowest, fabric.CollectiveTime(kind, bytes, shape));
  }
  return slowest;
}

}  // namespace

NumberFormat FormatOf(workload::Precision precision) {
  switch (precision) {
    case workload::Precision::kFp32:
      return NumberFormat::kFp32;
    case workload::Precision::kTf32:
      return NumberFormat::kTf32;
    case workload::Precision::kFp16:
      return NumberFormat::kFp16;
    case workload::Precision::kBf16:
      return NumberFormat::kBf16;
    case workload::Precision::kFp8:
      return NumberFormat::kFp8;
  }
  return NumberFormat::kFp32;
}

Cost::Cost(const workload::Job& job, const hardware::Cluster& cluster,
           const Placement& placement)
    : accelerator_(AcceleratorOf(cluster)),
      format_(estimate::FormatOf(job.training.precision)),
      ranks_(job.parallelism, cluster, placement),
      fabric_(cluster, accelerator_),
      operators_(accelerator_),
      boundary_(workload::StageBoundary(job)),
      tensor_shapes_(TensorShapes(ranks_, fabric_)) {
  for (int64_t stage = 0; stage < ranks_.stages(); ++stage) {
    data_shapes_.push_back(DataShapes(ranks_, fabric_, stage));
  }
}

hardware::Peak Cost::peak() const {
  return hardware::PeakOf(accelerator_, format_);
}

NumberFormat Cost::FormatOf(const workload::Operator& op) const {
  if (format_ == NumberFormat::kFp8 && !op.low_precision) {
    return NumberFormat::kBf16;
  }
  return format_;
}

absl::StatusOr<double> Cost::SecondsOf(const workload::Operator& op) const {
  const NumberFormat format = FormatOf(op);
  double seconds = 0;
  switch (op.kind) {
    case workload::OperatorKind::kMatrixProduct:
      seconds = operators_.MatrixProductSeconds(
          {.batch = op.batch, .m = op.m, .n = op.n, .k = op.k}, format);
      break;
    case workload::OperatorKind::kFusedAttention:
      seconds = operators_.AttentionSeconds(op.flops, false, format);
      break;
    case workload::OperatorKind::kFusedAttentionBackward:
      seconds = operators_.AttentionSeconds(op.flops, true, format);
      break;
    case workload::OperatorKind::kMemory:
      seconds = operators_.MemorySeconds(op.bytes, op.kernels);
      break;
  }
  const double floor = operators_.FloorSeconds(op.flops, op.bytes, format);
  if (!(seconds >= floor * (1 - kFloorTolerance))) {
    return absl::InternalError(absl::StrFormat(
        "an operator of %g FLOPs and %g bytes takes %g s, below its floor of "
        "%g s",
        op.flops, op.bytes, seconds, floor));
  }
  return seconds;
}

absl::StatusOr<double> Cost::OperatorSeconds(
    const std::vector<workload::Operator>& operators) const {
  double total = 0;
  for (const workload::Operator& op : operators) {
    const absl::StatusOr<double> seconds = SecondsOf(op);
    if (!seconds.ok()) return seconds.status();
    total += *seconds;
  }
  return total;
}

LinkTime Cost::TensorTime(const workload::Collective& collective) const {
  return SlowestOf(fabric_, KindOf(collective.kind), collective.bytes,
                   tensor_shapes_);
}

LinkTime Cost::DataTime(hardware::CollectiveKind kind, double bytes,
                        int64_t stage) const {
  return SlowestOf(fabric_, kind, bytes,
                   data_shapes_[static_cast<size_t>(stage)]);
}

LinkTime Cost::BoundaryTime(int64_t stage) const {
  const int64_t next = (stage + 1) % ranks_.stages();
  LinkTime slowest;
  for (int64_t replica = 0; replica < ranks_.replicas(); ++replica) {
    for (int64_t lane = 0; lane < ranks_.lanes(); ++lane) {
      slowest = Slower(slowest,
                       fabric_.TransferTime(boundary_.sent_bytes,
                                            ranks_.Gpu(replica, stage, lane),
                                            ranks_.Gpu(replica, next, lane)));
    }
  }
  if (boundary_.gathered_bytes > 0) {
    const LinkTime gather =
        SlowestOf(fabric_, hardware::CollectiveKind::kAllGather,
                  boundary_.gathered_bytes, tensor_shapes_);
    slowest.seconds += gather.seconds;
    slowest.latency_seconds += gather.latency_seconds;
  }
  return slowest;
}

LinkTime Cost::TiedCopyTime(double bytes) const {
  LinkTime slowest;
  for (int64_t lane = 0; lane < ranks_.lanes(); ++lane) {
    const std::vector<int64_t> pair = {
        ranks_.Gpu(0, 0, lane), ranks_.Gpu(0, ranks_.stages() - 1, lane)};
    slowest = Slower(
        slowest, fabric_.CollectiveTime(hardware::CollectiveKind::kAllReduce,
                                        bytes, fabric_.ShapeOf(pair)));
  }
  return slowest;
}

}  // namespace prism::estimate
