#include "server/predict_call.h"

#include <absl/status/status.h>
#include <grpcpp/server_context.h>

#include <utility>

#include "prism/v1/prediction_service.pb.h"
#include "server/rpc_status.h"
#include "server/wire.h"

namespace prism::server {

void FinishCall(const absl::Status& status, CallScope& scope,
                grpc::CallbackServerContext& context,
                grpc::ServerUnaryReactor& reactor) {
  if (const auto pushback = RetryPushback(status)) {
    context.AddTrailingMetadata("grpc-retry-pushback-ms", *pushback);
  }
  scope.End(status.code());
  reactor.Finish(ToGrpcStatus(status));
}

grpc::ServerUnaryReactor* PredictCall::Start(
    ServiceState& state, CallScope call, RequestScope request,
    const std::vector<ReadQuestion>& questions,
    grpc::CallbackServerContext* context, grpc::ByteBuffer* response) {
  std::shared_ptr<PredictCall> self(
      new PredictCall(state, std::move(call), std::move(request),
                      questions.size(), context, response));
  self->self_ = self;
  self->Ask(questions);
  return self.get();
}

PredictCall::PredictCall(ServiceState& state, CallScope call,
                         RequestScope request, size_t questions,
                         grpc::CallbackServerContext* context,
                         grpc::ByteBuffer* response)
    : state_(state),
      context_(context),
      response_(response),
      deadline_(absl::FromChrono(context->deadline())),
      call_(std::move(call)),
      request_(std::move(request)),
      replies_(questions),
      missing_(questions) {}

void PredictCall::Ask(const std::vector<ReadQuestion>& questions) {
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

void PredictCall::Answered(size_t index, absl::StatusOr<Reply> reply) {
  std::lock_guard lock(mutex_);
  if (ended_) return;
  if (!reply.ok()) return End(reply.status());
  replies_[index] = *std::move(reply);
  if (--missing_ == 0) End(absl::OkStatus());
}

void PredictCall::End(const absl::Status& status) {
  ended_ = true;
  for (WaiterId waiter : waiters_) state_.answers.Leave(waiter);
  if (status.ok()) {
    *response_ = Serialized(request_.Succeed(replies_));
    FinishCall(status, call_, *context_, *this);
  } else {
    FinishCall(request_.Fail(status), call_, *context_, *this);
  }
}

void PredictCall::OnCancel() {
  std::lock_guard lock(mutex_);
  if (ended_) return;
  End(state_.tools.clock() >= deadline_
          ? DeadlineError()
          : absl::CancelledError("the caller cancelled"));
}

}  // namespace prism::server
