// Transport: one attempt at a call, without deadlines of its own or retries.
//
// PredictionClient speaks through it; tests put a scripted one in its place.
#ifndef PRISM_CLIENT_TRANSPORT_H_
#define PRISM_CLIENT_TRANSPORT_H_

#include <absl/time/time.h>

#include <memory>
#include <string>
#include <variant>

#include "client/retry_policy.h"
#include "prism/v1/prediction_service.pb.h"

namespace prism::client {

// Thread-safe.
class Transport {
 public:
  virtual ~Transport() = default;

  using Outcome = std::variant<prism::v1::PredictResponse, Failure>;

  // Asks once; fails with DEADLINE_EXCEEDED after `timeout`.
  virtual Outcome Predict(const prism::v1::PredictRequest& request,
                          absl::Duration timeout) = 0;
};

// Over gRPC, without encryption, to `address`: "host:port", or a target with a
// scheme ("dns:///prism:7450", "unix:/run/prism.sock"). Connects when first
// asked and again after failures; never blocks here.
std::unique_ptr<Transport> MakeGrpcTransport(const std::string& address);

}  // namespace prism::client

#endif  // PRISM_CLIENT_TRANSPORT_H_
