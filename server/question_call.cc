#include "server/question_call.h"

#include <absl/status/status.h>
#include <grpcpp/server_context.h>

#include <utility>

#include "server/rpc_status.h"

namespace prism::server {

grpc::ServerUnaryReactor* QuestionCall::Start(
    ServiceState& state, CallScope call, RequestScope request,
    const std::vector<PreparedQuestion>& questions,
    grpc::CallbackServerContext* context, grpc::ByteBuffer* response) {
  std::shared_ptr<QuestionCall> self(
      new QuestionCall(state, std::move(call), std::move(request), questions,
                       context, response));
  self->self_ = self;
  self->Ask(questions);
  return self.get();
}

QuestionCall::QuestionCall(ServiceState& state, CallScope call,
                           RequestScope request,
                           const std::vector<PreparedQuestion>& questions,
                           grpc::CallbackServerContext* context,
                           grpc::ByteBuffer* response)
    : state_(state),
      context_(context),
      response_(response),
      deadline_(absl::FromChrono(context->deadline())),
      call_(std::move(call)),
      request_(std::move(request)),
      replies_(questions.size()),
      missing_(questions.size()) {
  for (size_t i = 0; i < questions.size(); ++i) {
    replies_[i].cluster_version = questions[i].cluster_version;
  }
}

void QuestionCall::Ask(const std::vector<PreparedQuestion>& questions) {
  for (size_t i = 0; i < questions.size(); ++i) {
    auto asked =
        state_.Ask(questions[i], deadline_,
                   [self = shared_from_this(), i](absl::StatusOr<Reply> reply) {
                     self->Answered(i, std::move(reply));
                   });
    if (!asked.ok()) return Answered(i, asked.status());
    if (asked->reply) {
      Answered(i, *std::move(asked->reply));
      continue;
    }
    std::lock_guard lock(mutex_);
    if (ended_) return state_.answers.Leave(asked->waiter);
    waiters_.push_back(asked->waiter);
  }
}

void QuestionCall::Answered(size_t index, absl::StatusOr<Reply> reply) {
  std::lock_guard lock(mutex_);
  if (ended_) return;
  if (!reply.ok()) return End(reply.status());
  replies_[index].answer = std::move(reply->answer);
  replies_[index].cache = reply->cache;
  if (--missing_ == 0) End(absl::OkStatus());
}

void QuestionCall::End(const absl::Status& status) {
  ended_ = true;
  for (WaiterId waiter : waiters_) state_.answers.Leave(waiter);
  if (status.ok()) {
    *response_ = request_.Succeed(replies_);
    FinishCall(status, call_, *context_, *this);
  } else {
    FinishCall(request_.Fail(status), call_, *context_, *this);
  }
}

void QuestionCall::OnCancel() {
  std::lock_guard lock(mutex_);
  if (ended_) return;
  End(state_.tools.clock() >= deadline_
          ? DeadlineError()
          : absl::CancelledError("the caller cancelled"));
}

}  // namespace prism::server
