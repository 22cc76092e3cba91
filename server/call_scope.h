// CallScope and RequestScope: what is counted and logged of one call, and how
// it ends.
#ifndef PRISM_SERVER_CALL_SCOPE_H_
#define PRISM_SERVER_CALL_SCOPE_H_

#include <absl/status/status.h>
#include <absl/time/time.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/answer.h"
#include "server/clock.h"
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

// One call of any method. Not thread-safe.
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

// Ends `context`'s call with OK, or with what the caller may see of `status`:
// code, details, trailers. The one way out of a unary call.
void FinishCall(const absl::Status& status, CallScope& scope,
                grpc::CallbackServerContext& context,
                grpc::ServerUnaryReactor& reactor);

// One request: a unary call, or one question of a stream.
class RequestScope {
 public:
  // `method` lives as long as the scope.
  RequestScope(CallTools& tools, std::string_view method)
      : tools_(&tools), method_(method), start_(tools.clock()) {}

  // The response to send for `replies`, each under an id of its own. Answers
  // that keep their provenance among their own fields are sent as a list in
  // field 1; of others there is one, which is the response.
  //
  // Requires: !replies.empty().
  grpc::ByteBuffer Succeed(const std::vector<Reply>& replies);

  // Logs a request that asked no question.
  void Succeed();

  // Logs `status` and returns what the caller may see of it.
  absl::Status Fail(const absl::Status& status);

 private:
  // With what all records have.
  RequestRecord Record(std::string_view id) const;

  CallTools* tools_;
  std::string_view method_;
  absl::Time start_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_CALL_SCOPE_H_
