#include "server/question_method.h"

#include <grpcpp/server_context.h>

#include <utility>

#include "server/call_scope.h"
#include "server/question_call.h"
#include "server/wire.h"

namespace prism::server {

QuestionMethod::QuestionMethod(ServiceState& state, const MethodName& name,
                               ReadRequest read, size_t recent_bytes)
    : state_(state),
      name_(name),
      metrics_(state.tools.metrics.AddMethod(name)),
      reader_(std::move(read), recent_bytes, state.clusters) {}

grpc::ServerUnaryReactor* QuestionMethod::Serve(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  CallScope call(state_.tools, metrics_);
  RequestScope scope(state_.tools, name_.method);
  const grpc::Slice slice = OnePiece(*request);
  if (const auto meaning = reader_.Recall(Bytes(slice))) {
    const auto replies = state_.answers.FindAll(meaning->questions);
    if (!replies.empty()) {
      *response = scope.Succeed(replies);
      auto* reactor = context->DefaultReactor();
      FinishCall(absl::OkStatus(), call, *context, *reactor);
      return reactor;
    }
  }
  const auto questions = reader_.Read(Bytes(slice));
  if (!questions.ok()) {
    auto* reactor = context->DefaultReactor();
    FinishCall(scope.Fail(questions.status()), call, *context, *reactor);
    return reactor;
  }
  return QuestionCall::Start(state_, std::move(call), std::move(scope),
                             *questions, context, response);
}

}  // namespace prism::server
