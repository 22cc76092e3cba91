#include "client/status_details.h"

#include <absl/strings/cord.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace prism::client {
namespace {

template <typename Detail>
std::string TypeUrl() {
  return "type.googleapis.com/" + Detail::descriptor()->full_name();
}

template <typename Detail>
std::optional<Detail> DetailOf(const absl::Status& status) {
  const auto payload = status.GetPayload(TypeUrl<Detail>());
  Detail detail;
  if (!payload.has_value() || !detail.ParseFromString(std::string(*payload))) {
    return std::nullopt;
  }
  return detail;
}

}  // namespace

absl::Status StatusWithDetails(int code, const std::string& message,
                               const std::string& details) {
  absl::Status status(static_cast<absl::StatusCode>(code), message);
  google::rpc::Status rpc_status;
  if (!rpc_status.ParseFromString(details)) return status;
  for (const auto& detail : rpc_status.details()) {
    status.SetPayload(detail.type_url(), absl::Cord(detail.value()));
  }
  return status;
}

base::Violations ViolationsOf(const absl::Status& status) {
  base::Violations violations;
  const auto bad_request = DetailOf<google::rpc::BadRequest>(status);
  if (!bad_request.has_value()) return violations;
  for (const auto& violation : bad_request->field_violations()) {
    violations.Add(violation.field(), violation.description());
  }
  return violations;
}

std::optional<absl::Duration> RetryDelayOf(const absl::Status& status) {
  const auto retry_info = DetailOf<google::rpc::RetryInfo>(status);
  if (!retry_info.has_value()) return std::nullopt;
  const auto& delay = retry_info->retry_delay();
  return absl::Seconds(delay.seconds()) + absl::Nanoseconds(delay.nanos());
}

}  // namespace prism::client
