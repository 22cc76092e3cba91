// QuestionCall: one unary call that has to wait for answers.
#ifndef PRISM_SERVER_QUESTION_CALL_H_
#define PRISM_SERVER_QUESTION_CALL_H_

#include <absl/status/statusor.h>
#include <absl/time/time.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <memory>
#include <mutex>
#include <vector>

#include "server/call_scope.h"
#include "server/question.h"
#include "server/service_state.h"

namespace prism::server {

// Keeps itself alive until gRPC is done with it; answers that come later find
// it finished. gRPC and the compute pool call it from their threads.
class QuestionCall final : public grpc::ServerUnaryReactor,
                           public std::enable_shared_from_this<QuestionCall> {
 public:
  // Asks all `questions` and ends the call with their answers in `response`,
  // or with the first error. The references live as long as the call.
  static grpc::ServerUnaryReactor* Start(
      ServiceState& state, CallScope call, RequestScope request,
      const std::vector<PreparedQuestion>& questions,
      grpc::CallbackServerContext* context, grpc::ByteBuffer* response);

 private:
  QuestionCall(ServiceState& state, CallScope call, RequestScope request,
               const std::vector<PreparedQuestion>& questions,
               grpc::CallbackServerContext* context,
               grpc::ByteBuffer* response);

  void Ask(const std::vector<PreparedQuestion>& questions);
  void Answered(size_t index, absl::StatusOr<Reply> reply);
  // Requires: mutex_ is held. Leaves what is still waited for.
  void End(const absl::Status& status);

  void OnCancel() override;
  void OnDone() override { self_.reset(); }

  ServiceState& state_;
  grpc::CallbackServerContext* const context_;
  grpc::ByteBuffer* const response_;
  const absl::Time deadline_;
  std::shared_ptr<QuestionCall> self_;

  // gRPC runs no reaction inside a call to it, so it may be called under lock.
  std::mutex mutex_;
  CallScope call_;
  RequestScope request_;
  std::vector<Reply> replies_;
  std::vector<WaiterId> waiters_;
  size_t missing_;
  bool ended_ = false;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_QUESTION_CALL_H_
