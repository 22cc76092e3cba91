// What callers are told when something goes wrong.
//
// Inside the server a failure is an absl::Status whose payloads are messages
// of google.rpc. The functions on top make such statuses; those at the bottom
// put any status on the wire. This is the one place that maps codes.
#ifndef PRISM_SERVER_RPC_STATUS_H_
#define PRISM_SERVER_RPC_STATUS_H_

#include <absl/status/status.h>
#include <absl/time/time.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/support/status.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/base/violations.h"

namespace prism::server {

// Domain of every ErrorInfo.
inline constexpr char kErrorDomain[] = "prism.dev";

// INVALID_ARGUMENT with a BadRequest that lists all violations.
// Requires: !violations.empty().
absl::Status BadRequestError(const base::Violations& violations);

// INVALID_ARGUMENT: the bytes are not a `message_name`.
absl::Status MalformedError(std::string_view message_name);

// RESOURCE_EXHAUSTED with RetryInfo and QuotaFailure.
absl::Status QueueFullError(absl::Duration retry_after);

// UNAVAILABLE: the server is about to end.
absl::Status DrainingError();

absl::Status DeadlineError();

// NOT_FOUND with a ResourceInfo: no cluster of this name is stored.
absl::Status ClusterNotFoundError(const std::string& name);

// ABORTED: the cluster stored does not have `etag`.
absl::Status EtagError(const std::string& name, const std::string& etag);

// FAILED_PRECONDITION with a PreconditionFailure: the server runs without a
// data folder, and so stores no clusters.
absl::Status NoDataFolderError();

// What a caller may see of `status`. Codes that are the caller's business
// pass, and gain an ErrorInfo if they have none. Everything else is our fault:
// INTERNAL, with a message that says `request_id` and nothing more.
absl::Status PublicStatus(const absl::Status& status,
                          std::string_view request_id);

// Requires: `status` came from PublicStatus, or is OK.
google::rpc::Status ToRpcStatus(const absl::Status& status);
// The same with the whole google.rpc.Status in grpc-status-details-bin.
grpc::Status ToGrpcStatus(const absl::Status& status);

// The value for the trailer grpc-retry-pushback-ms, if the caller should wait.
std::optional<std::string> RetryPushback(const absl::Status& status);

}  // namespace prism::server

#endif  // PRISM_SERVER_RPC_STATUS_H_
