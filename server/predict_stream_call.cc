#include "server/predict_stream_call.h"

#include <absl/status/status.h>
#include <grpcpp/server_context.h>

#include <utility>

#include "prism/v1/prediction_service.pb.h"
#include "server/rpc_status.h"
#include "server/wire.h"

namespace prism::server {
namespace {

// Questions of one stream that are worked on at a time.
constexpr size_t kWindow = 32;

}  // namespace

PredictStreamCall::Reactor* PredictStreamCall::Start(
    ServiceState& state, grpc::CallbackServerContext* context) {
  std::shared_ptr<PredictStreamCall> self(
      new PredictStreamCall(state, context));
  self->self_ = self;
  {
    std::lock_guard lock(state.streams_mutex);
    state.streams.insert(self.get());
  }
  std::lock_guard lock(self->mutex_);
  self->Proceed();
  return self.get();
}

PredictStreamCall::PredictStreamCall(ServiceState& state,
                                     grpc::CallbackServerContext* context)
    : state_(state),
      deadline_(absl::FromChrono(context->deadline())),
      call_(state.tools, state.tools.metrics.predict_stream) {}

void PredictStreamCall::Drain() {
  std::lock_guard lock(mutex_);
  if (!ended_) Proceed();
}

void PredictStreamCall::OnReadDone(bool ok) {
  SlotPtr slot;
  {
    std::lock_guard lock(mutex_);
    if (ended_) return;
    if (!ok) {
      half_closed_ = true;
      return Proceed();
    }
    slot = std::make_shared<Slot>(RequestScope(state_.tools, "PredictStream"));
    slots_.push_back(slot);
  }
  Ask(slot);
  std::lock_guard lock(mutex_);
  reading_ = false;  // only now: Ask reads in_
  if (!ended_) Proceed();
}

void PredictStreamCall::Ask(const SlotPtr& slot) {
  const grpc::Slice slice = OnePiece(in_);
  if (const auto keys = state_.stream_reader.Recall(Bytes(slice))) {
    const auto replies = state_.answers.FindAll(*keys);
    if (!replies.empty()) return Answered(slot, replies.front());
  }
  const auto questions = state_.stream_reader.Read(Bytes(slice));
  if (!questions.ok()) return Answered(slot, questions.status());
  auto asked = state_.Ask(
      questions->front(), deadline_,
      [self = shared_from_this(), slot](absl::StatusOr<Reply> reply) {
        self->Answered(slot, std::move(reply));
      });
  if (!asked.ok()) return Answered(slot, asked.status());
  if (asked->reply) return Answered(slot, *std::move(asked->reply));
  std::lock_guard lock(mutex_);
  slot->waiter = asked->waiter;
  if (ended_) state_.answers.Leave(asked->waiter);
}

void PredictStreamCall::Answered(const SlotPtr& slot,
                                 absl::StatusOr<Reply> reply) {
  std::lock_guard lock(mutex_);
  if (ended_) return;
  prism::v1::PredictStreamResponse response;
  if (reply.ok()) {
    auto answered = slot->request.Succeed({*std::move(reply)});
    *response.mutable_prediction() =
        std::move(*answered.mutable_predictions(0));
  } else {
    *response.mutable_error() = ToRpcStatus(slot->request.Fail(reply.status()));
  }
  slot->answer = Serialized(response);
  Proceed();
}

void PredictStreamCall::Proceed() {
  if (!writing_ && !slots_.empty() && slots_.front()->answer) {
    out_ = *std::move(slots_.front()->answer);
    slots_.pop_front();
    writing_ = true;
    StartWrite(&out_);
  }
  if (!writing_ && slots_.empty()) {
    if (half_closed_) return End(absl::OkStatus());
    if (state_.draining) return End(DrainingError());
  }
  if (!reading_ && !half_closed_ && !state_.draining &&
      slots_.size() < kWindow) {
    reading_ = true;
    StartRead(&in_);
  }
}

void PredictStreamCall::OnWriteDone(bool ok) {
  std::lock_guard lock(mutex_);
  writing_ = false;
  if (ended_) return;
  if (!ok) return End(absl::CancelledError("the caller is gone"));
  Proceed();
}

void PredictStreamCall::OnCancel() {
  std::lock_guard lock(mutex_);
  if (ended_) return;
  End(state_.tools.clock() >= deadline_
          ? DeadlineError()
          : absl::CancelledError("the caller cancelled"));
}

void PredictStreamCall::End(const absl::Status& status) {
  ended_ = true;
  for (const SlotPtr& slot : slots_) state_.answers.Leave(slot->waiter);
  slots_.clear();
  call_.End(status.code());
  Finish(ToGrpcStatus(status));
}

void PredictStreamCall::OnDone() {
  {
    std::lock_guard lock(state_.streams_mutex);
    state_.streams.erase(this);
  }
  self_.reset();
}

}  // namespace prism::server
