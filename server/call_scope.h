// CallScope: what is counted and logged of one call, from start to end.
#ifndef PRISM_SERVER_CALL_SCOPE_H_
#define PRISM_SERVER_CALL_SCOPE_H_

#include <absl/status/status.h>
#include <absl/time/time.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "prism/v1/prediction_service.pb.h"
#include "server/clock.h"
#include "server/flight.h"
#include "server/metrics.h"
#include "server/request_log.h"

namespace prism::server {

// Names of requests and predictions, unique to this process and, but for bad
// luck in 2^64, to all processes. Thread-safe.
class IdSource {
 public:
  IdSource();
  std::string Next();

 private:
  std::string prefix_;
  std::atomic<uint64_t> next_{1};
};

// What every call uses.
struct CallTools {
  Clock clock;
  Metrics& metrics;
  RequestLog& log;
  IdSource ids;
};

// One call of Predict or PredictStream. Not thread-safe.
class CallScope {
 public:
  CallScope(CallTools& tools, MethodMetrics& method);

  // Counts the call as ended. Call it once.
  void End(absl::StatusCode code);

 private:
  CallTools& tools_;
  MethodMetrics& method_;
  const absl::Time start_;
};

// One request: a call of Predict, or one question of a stream.
class RequestScope {
 public:
  RequestScope(CallTools& tools, std::string_view method)
      : tools_(&tools), method_(method), start_(tools.clock()) {}

  // The response to send for `replies`, each under an id of its own.
  // Requires: !replies.empty().
  prism::v1::PredictResponse Succeed(const std::vector<Reply>& replies);

  // Logs `status` and returns what the caller may see of it.
  absl::Status Fail(const absl::Status& status);

 private:
  CallTools* tools_;
  std::string_view method_;
  absl::Time start_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_CALL_SCOPE_H_
