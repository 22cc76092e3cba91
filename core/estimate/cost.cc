#include "core/estimate/cost.h"

#include <absl/status/status.h>
#include <absl/strings/str_format.h>

#include <utility>

#include "core/base/check.h"

namespace prism::estimate {
namespace {

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
    case workload::CollectiveKind::kAllToAll:  // of context groups alone
    case workload::CollectiveKind::kPass:
      return hardware::CollectiveKind::kAllReduce;
  }
  return hardware::CollectiveKind::kAllReduce;
}

LinkTime Slower(const LinkTime& a, const LinkTime& b) {
  return a.seconds >= b.seconds ? a : b;
}

LinkTime Scaled(const LinkTime& time, double factor) {
  return {factor * time.seconds, factor * time.latency_seconds};
}

LinkTime SlowestOf(const hardware::Fabric& fabric,
                   hardware::CollectiveKind kind, double bytes,
                   const std::vector<PlacedGroup>& groups) {
  LinkTime slowest;
  for (const PlacedGroup& group : groups) {
    slowest =
        Slower(slowest, Scaled(fabric.CollectiveTime(kind, bytes, group.shape),
                               group.path_factor));
  }
  return slowest;
}

// Transformer Engine calls the vendor's kernels; models of llm-foundry came
// with kernels in Triton.
hardware::AttentionLibrary LibraryOf(workload::Framework framework) {
  switch (framework) {
    case workload::Framework::kMegatronCore:
      return hardware::AttentionLibrary::kVendor;
    case workload::Framework::kFsdp:
      return hardware::AttentionLibrary::kTriton;
    case workload::Framework::kMegatronLm:
    case workload::Framework::kTorchtitan:
      return hardware::AttentionLibrary::kFlashAttention2;
  }
  return hardware::AttentionLibrary::kFlashAttention2;
}

hardware::AttentionKernel AttentionOf(const workload::Operator& op,
                                      bool backward) {
  return {.flops = op.flops,
          .kernels = op.kernels,
          .sequence = op.n,
          .head_size = op.k,
          .causal = true,
          .backward = backward};
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
    case workload::Precision::kFp4:
      return NumberFormat::kFp4;
  }
  return NumberFormat::kFp32;
}

Cost::Cost(const workload::Job& job, const hardware::Cluster& cluster,
           PlacementShape shape, const calibration::Constants& constants)
    : accelerator_(AcceleratorOf(cluster)),
      format_(estimate::FormatOf(job.training.precision)),
      shape_(std::move(shape)),
      fabric_(cluster, accelerator_, constants.links),
      operators_(accelerator_, constants.operators,
                 LibraryOf(job.training.framework)),
      boundary_(workload::StageBoundary(job)) {}

hardware::Peak Cost::peak() const {
  return hardware::PeakOf(accelerator_, format_);
}

NumberFormat Cost::FormatOf(const workload::Operator& op) const {
  const bool narrow =
      format_ == NumberFormat::kFp8 || format_ == NumberFormat::kFp4;
  return narrow && !op.low_precision ? NumberFormat::kBf16 : format_;
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
      seconds = operators_.AttentionSeconds(AttentionOf(op, false), format);
      break;
    case workload::OperatorKind::kFusedAttentionBackward:
      seconds = operators_.AttentionSeconds(AttentionOf(op, true), format);
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
                   shape_.tensor_groups);
}

LinkTime Cost::DataTime(hardware::CollectiveKind kind, double bytes,
                        int64_t stage) const {
  return SlowestOf(fabric_, kind, bytes,
                   shape_.data_groups[static_cast<size_t>(stage)]);
}

LinkTime Cost::BoundaryTime(int64_t stage) const {
  LinkTime slowest;
  for (const PlacedHop& hop : shape_.boundaries[static_cast<size_t>(stage)]) {
    const LinkTime time = fabric_.TransferTime(boundary_.sent_bytes, hop.level);
    slowest = Slower(slowest, Scaled(time, hop.path_factor));
  }
  if (boundary_.gathered_bytes > 0) {
    const LinkTime gather =
        SlowestOf(fabric_, hardware::CollectiveKind::kAllGather,
                  boundary_.gathered_bytes, shape_.tensor_groups);
    slowest.seconds += gather.seconds;
    slowest.latency_seconds += gather.latency_seconds;
  }
  return slowest;
}

LinkTime Cost::TiedCopyTime(double bytes) const {
  return SlowestOf(fabric_, hardware::CollectiveKind::kAllReduce, bytes,
                   shape_.tied_copies);
}

}  // namespace prism::estimate
