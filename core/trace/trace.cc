#include "core/trace/trace.h"

#include <algorithm>
#include <limits>

namespace prism::trace {
namespace {

constexpr std::array<std::string_view, kOperationKinds> kNames = {
    "forward-compute",
    "backward-compute",
    "forward-send",
    "forward-recv",
    "backward-send",
    "backward-recv",
    "params-all-gather",
    "grads-reduce-scatter",
    "separate-grads-all-reduce",
    "embedding-grads-all-reduce",
    "layernorm-grads-all-reduce",
    "optimizer-clip-main-grad",
    "optimizer",
    "gc",
};

}  // namespace

std::string_view KindName(OperationKind kind) {
  return kNames[static_cast<size_t>(kind)];
}

std::optional<OperationKind> KindNamed(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<OperationKind>(found - kNames.begin());
}

double MeasuredSeconds(const Step& step) {
  if (step.operations.empty()) return 0;
  double first = std::numeric_limits<double>::infinity();
  double last = -first;
  for (const Operation& operation : step.operations) {
    first = std::min(first, operation.start_seconds);
    last = std::max(last, operation.end_seconds());
  }
  return last - first;
}

absl::Status TraceSource::ForEach(
    const std::function<absl::Status(const Step&)>& visit) {
  for (const Step& step : trace_.steps) {
    if (absl::Status status = visit(step); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace prism::trace
