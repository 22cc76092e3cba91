// PlainCall: one unary call that asks no question of the model.
#ifndef PRISM_SERVER_PLAIN_CALL_H_
#define PRISM_SERVER_PLAIN_CALL_H_

#include <absl/status/statusor.h>
#include <google/protobuf/message_lite.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>

#include <string_view>

#include "server/call_scope.h"
#include "server/metrics.h"

namespace prism::server {

// From its start to End, which may come later and on another thread, but comes
// once. Not thread-safe.
class PlainCall {
 public:
  // The references live as long as the call, and `method` too.
  PlainCall(CallTools& tools, MethodMetrics& metrics, std::string_view method,
            grpc::CallbackServerContext* context, grpc::ByteBuffer* response);

  // What the service method returns.
  grpc::ServerUnaryReactor* reactor() const { return reactor_; }

  void End(const google::protobuf::MessageLite& message);
  // Requires: !status.ok().
  void Fail(const absl::Status& status);

  template <typename Message>
  void End(const absl::StatusOr<Message>& result) {
    if (result.ok()) {
      End(*result);
    } else {
      Fail(result.status());
    }
  }

 private:
  CallScope call_;
  RequestScope request_;
  grpc::CallbackServerContext* const context_;
  grpc::ByteBuffer* const response_;
  grpc::ServerUnaryReactor* const reactor_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_PLAIN_CALL_H_
