#include "core/trace/learn/compute_table.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace prism::trace {
namespace {

// Below the resolution of any recording: the logarithm of 0 is nothing.
constexpr double kShortestSeconds = 1e-9;

int32_t MicrobatchOf(const Operation& compute) {
  return compute.microbatch == kNone ? compute.sequence : compute.microbatch;
}

int32_t ChunkOf(const Operation& compute) {
  return compute.chunk == kNone ? 0 : compute.chunk;
}

std::vector<Component> Components(const Sizes& sizes) {
  std::vector<Component> components;
  for (const OperationKind kind :
       {OperationKind::kForwardCompute, OperationKind::kBackwardCompute}) {
    for (int32_t stage = 0; stage < sizes.pipeline; ++stage) {
      for (int32_t chunk = 0; chunk < sizes.chunks; ++chunk)
        components.push_back({kind, stage, chunk});
    }
  }
  return components;
}

size_t ComponentOf(const Operation& compute, const Sizes& sizes) {
  const auto within =
      static_cast<size_t>(compute.stage * sizes.chunks + ChunkOf(compute));
  const bool forward = compute.kind == OperationKind::kForwardCompute;
  return within +
         (forward ? 0 : static_cast<size_t>(sizes.pipeline * sizes.chunks));
}

absl::Status Place(const Observations& observed, ComputeTable& table) {
  const TableShape& shape = table.shape;
  for (size_t o = 0; o < observed.operations.size(); ++o) {
    const Operation& operation = observed.operations[o];
    if (!IsCompute(operation.kind)) continue;
    const auto microbatch = static_cast<size_t>(MicrobatchOf(operation));
    const size_t component = ComponentOf(operation, observed.sizes);
    const auto replica = static_cast<size_t>(operation.replica);
    if (microbatch >= shape.microbatches || component >= shape.components ||
        replica >= shape.replicas)
      return absl::FailedPreconditionError("a compute lies outside the job");
    int32_t& place =
        table.operations[shape.Row(0, replica, component) + microbatch];
    if (place != kNone) {
      return absl::FailedPreconditionError(
          absl::StrCat("micro-batch ", microbatch, " comes twice"));
    }
    place = static_cast<int32_t>(o);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ComputeTable> TabulateComputes(const Observations& observed) {
  ComputeTable table;
  table.components = Components(observed.sizes);
  int32_t last = kNone;
  for (const Operation& operation : observed.operations) {
    if (IsCompute(operation.kind))
      last = std::max(last, MicrobatchOf(operation));
  }
  table.shape = {observed.steps.size(),
                 static_cast<size_t>(observed.sizes.data),
                 table.components.size(), static_cast<size_t>(last + 1)};
  if (table.shape.values() == 0)
    return absl::FailedPreconditionError("nothing was computed");
  const size_t in_step = table.shape.values() / table.shape.steps;
  table.operations.assign(in_step, kNone);
  if (absl::Status status = Place(observed, table); !status.ok()) return status;
  if (std::find(table.operations.begin(), table.operations.end(), kNone) !=
      table.operations.end()) {
    return absl::FailedPreconditionError(
        "a worker lacks the forward or backward of a micro-batch");
  }
  table.logs.reserve(table.shape.values());
  for (const ObservedStep& step : observed.steps) {
    for (const int32_t operation : table.operations) {
      table.logs.push_back(std::log(std::max(
          step.work[static_cast<size_t>(operation)], kShortestSeconds)));
    }
  }
  return table;
}

}  // namespace prism::trace
