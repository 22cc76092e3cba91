// Transport: one attempt at a call, without deadlines of its own or retries.
//
// Clients speak through it; tests put a scripted one in its place.
#ifndef PRISM_CLIENT_TRANSPORT_H_
#define PRISM_CLIENT_TRANSPORT_H_

#include <absl/time/time.h>
#include <google/protobuf/message_lite.h>

#include <memory>
#include <optional>
#include <string>

#include "client/retry_policy.h"

namespace prism::client {

// Thread-safe.
class Transport {
 public:
  virtual ~Transport() = default;

  // Calls `method` ("/prism.v1.PredictionService/Predict") once and fills
  // `response`, or says how it failed; fails with DEADLINE_EXCEEDED after
  // `timeout`.
  virtual std::optional<Failure> Call(
      const std::string& method, const google::protobuf::MessageLite& request,
      absl::Duration timeout, google::protobuf::MessageLite& response) = 0;
};

// Over gRPC, without encryption, to `address`: "host:port", or a target with a
// scheme ("dns:///prism:7450", "unix:/run/prism.sock"). Connects when first
// asked and again after failures; never blocks here.
std::unique_ptr<Transport> MakeGrpcTransport(const std::string& address);

}  // namespace prism::client

#endif  // PRISM_CLIENT_TRANSPORT_H_
