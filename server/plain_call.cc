#include "server/plain_call.h"

#include "server/wire.h"

namespace prism::server {

PlainCall::PlainCall(CallTools& tools, MethodMetrics& metrics,
                     std::string_view method,
                     grpc::CallbackServerContext* context,
                     grpc::ByteBuffer* response)
    : call_(tools, metrics),
      request_(tools, method),
      context_(context),
      response_(response),
      reactor_(context->DefaultReactor()) {}

void PlainCall::End(const google::protobuf::MessageLite& message) {
  request_.Succeed();
  *response_ = Serialized(message);
  FinishCall(absl::OkStatus(), call_, *context_, *reactor_);
}

void PlainCall::Fail(const absl::Status& status) {
  FinishCall(request_.Fail(status), call_, *context_, *reactor_);
}

}  // namespace prism::server
