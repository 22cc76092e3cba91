// Connection: calls to one server, with deadlines and retries.
//
// What the typed clients are made of; use it where there is none for a method.
// Thread-safe.
#ifndef PRISM_CLIENT_CONNECTION_H_
#define PRISM_CLIENT_CONNECTION_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/time/time.h>
#include <google/protobuf/message_lite.h>

#include <functional>
#include <memory>
#include <string>

#include "client/clock.h"
#include "client/retry_policy.h"
#include "client/transport.h"

namespace prism::client {

class Connection {
 public:
  // To the server at `address` (see MakeGrpcTransport). Does not wait for it.
  static std::unique_ptr<Connection> To(const std::string& address,
                                        RetryOptions options = {});

  // `jitter` gives a number from 0 to 1 at each call and is called from any
  // thread that asks.
  Connection(std::unique_ptr<Transport> transport, std::unique_ptr<Clock> clock,
             RetryOptions options, std::function<double()> jitter);

  // Calls `method` ("/prism.v1.ClusterService/GetCluster") within `timeout`
  // (above 0), retries included. Errors: those of the method.
  absl::Status Call(const std::string& method,
                    const google::protobuf::MessageLite& request,
                    absl::Duration timeout,
                    google::protobuf::MessageLite& response);

  template <typename Response>
  absl::StatusOr<Response> Call(const std::string& method,
                                const google::protobuf::MessageLite& request,
                                absl::Duration timeout) {
    Response response;
    const absl::Status status = Call(method, request, timeout, response);
    if (!status.ok()) return status;
    return response;
  }

 private:
  const std::unique_ptr<Transport> transport_;
  const std::unique_ptr<Clock> clock_;
  const RetryPolicy retry_policy_;
  const std::function<double()> jitter_;
};

}  // namespace prism::client

#endif  // PRISM_CLIENT_CONNECTION_H_
