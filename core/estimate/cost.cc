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
    case workload::CollectiveKind::kAllToAll:
      return hardware::CollectiveKind::kAllToAll;
    case workload::CollectiveKind::kAllReduce:
    case workload::CollectiveKind::kPass:  // messages, no collective
      return hardware::CollectiveKind::kAllReduce;
  }
  return hardware::CollectiveKind::kAllReduce;
}

LinkTime Slower(const LinkTime& a, const LinkTime& b) {
  return a.seconds >= b.seconds ? a : b;
}

LinkTime Scaled(const LinkTime& time, double factor) {
  return {factor * time.seconds, factor * time.latency_seconds, time.stalls};
}

// Outermost level that a group crosses: that of its slowest hop.
int LevelOf(const hardware::GroupShape& shape) {
  int level = hardware::kSameGpu;
  int64_t reached = 1;
  for (size_t i = 0; i < shape.in_unit.size(); ++i) {
    if (shape.in_unit[i] > reached) level = static_cast<int>(i);
    reached = shape.in_unit[i];
  }
  return level;
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
      constants_(constants),
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

double Cost::NominalSecondsOf(const workload::Operator& op) const {
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
      seconds = op.row > 0 ? operators_.RowSeconds(op.bytes, op.kernels, op.row)
                           : operators_.MemorySeconds(op.bytes, op.kernels);
      break;
  }
  return seconds;
}

absl::StatusOr<double> Cost::SecondsOf(const workload::Operator& op) const {
  const double seconds = NominalSecondsOf(op);
  const double floor =
      operators_.FloorSeconds(op.flops, op.bytes, FormatOf(op));
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

Cost::EndProducts Cost::ProductSeconds(
    const std::vector<workload::Operator>& operators) const {
  EndProducts ends;
  bool has_first = false;
  for (const workload::Operator& op : operators) {
    if (op.kind != workload::OperatorKind::kMatrixProduct) continue;
    ends.last = NominalSecondsOf(op);
    if (!has_first) ends.first = ends.last;
    has_first = true;
  }
  return ends;
}

const std::vector<PlacedGroup>& Cost::GroupsOf(workload::Group group,
                                               int64_t stage) const {
  const auto s = static_cast<size_t>(stage);
  switch (group) {
    case workload::Group::kTensor:
      return shape_.tensor_groups;
    case workload::Group::kContext:
      return shape_.context_groups;
    case workload::Group::kData:
      return shape_.data_groups[s];
    case workload::Group::kShard:
      return shape_.shard_groups[s];
    case workload::Group::kShardCopies:
      return shape_.shard_copies[s];
  }
  return shape_.tensor_groups;
}

LinkTime Cost::TimeOver(const workload::Collective& collective,
                        const PlacedGroup& group) const {
  LinkTime time;
  if (collective.kind == workload::CollectiveKind::kPass) {
    time = Scaled(fabric_.TransferTime(collective.bytes, LevelOf(group.shape)),
                  collective.steps);
  } else {
    time = fabric_.CollectiveTime(KindOf(collective.kind), collective.bytes,
                                  group.shape);
  }
  return Scaled(time, group.path_factor);
}

LinkTime Cost::CollectiveTime(const workload::Collective& collective,
                              int64_t stage) const {
  LinkTime slowest;
  for (const PlacedGroup& group : GroupsOf(collective.group, stage)) {
    slowest = Slower(slowest, TimeOver(collective, group));
  }
  return slowest;
}

double Cost::LinkSeconds(const workload::Collective& collective) const {
  const std::vector<PlacedGroup>& groups = GroupsOf(collective.group, 0);
  if (groups.empty()) return 0;
  const auto n = static_cast<double>(groups.front().shape.members);
  const double passes =
      collective.kind == workload::CollectiveKind::kAllReduce ? 2 : 1;
  return passes * collective.bytes * (n - 1) / n /
         fabric_.levels().front().bytes_per_second;
}

LinkTime Cost::BoundaryTime(int64_t stage) const {
  LinkTime slowest;
  for (const PlacedHop& hop : shape_.boundaries[static_cast<size_t>(stage)]) {
    const LinkTime time = fabric_.TransferTime(boundary_.sent_bytes, hop.level);
    slowest = Slower(slowest, Scaled(time, hop.path_factor));
  }
  if (boundary_.gathered_bytes > 0) {
    slowest += CollectiveTime({.kind = workload::CollectiveKind::kAllGather,
                               .bytes = boundary_.gathered_bytes});
  }
  return slowest;
}

LinkTime Cost::PairTime(const std::vector<PlacedGroup>& pairs,
                        double bytes) const {
  LinkTime slowest;
  for (const PlacedGroup& pair : pairs) {
    slowest = Slower(
        slowest,
        TimeOver({.kind = workload::CollectiveKind::kAllReduce, .bytes = bytes},
                 pair));
  }
  return slowest;
}

LinkTime Cost::TiedCopyTime(double bytes) const {
  return PairTime(shape_.tied_copies, bytes);
}

LinkTime Cost::TwinTime(int64_t stage, double bytes) const {
  return PairTime(shape_.twins[static_cast<size_t>(stage)], bytes);
}

}  // namespace prism::estimate
