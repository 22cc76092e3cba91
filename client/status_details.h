// What a server says about a failed call besides code and message.
//
// The details of a google.rpc.Status travel on absl::Status as payloads, keyed
// by their type URLs.
#ifndef PRISM_CLIENT_STATUS_DETAILS_H_
#define PRISM_CLIENT_STATUS_DETAILS_H_

#include <absl/status/status.h>
#include <absl/time/time.h>

#include <optional>
#include <string>

#include "core/base/violations.h"

namespace prism::client {

// The status of a call that ended with `code` (a gRPC status code) and
// `message`. `details` is the serialised google.rpc.Status of the trailing
// metadata; details that do not parse are ignored, as an old proxy may cut
// them.
absl::Status StatusWithDetails(int code, const std::string& message,
                               const std::string& details);

// The field violations of an INVALID_ARGUMENT; none for other statuses.
base::Violations ViolationsOf(const absl::Status& status);

// When the server wants to be asked again (google.rpc.RetryInfo).
std::optional<absl::Duration> RetryDelayOf(const absl::Status& status);

}  // namespace prism::client

#endif  // PRISM_CLIENT_STATUS_DETAILS_H_
