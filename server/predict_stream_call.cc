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
    StreamState& streams, grpc::CallbackServerContext* context) {
  std::shared_ptr<PredictStreamCall> self(
      new PredictStreamCall(streams, context));
  self->self_ = self;
  {
    std::lock_guard lock(streams.mutex);
    streams.open.insert(self.get());
  }
  std::lock_guard lock(self->mutex_);
  self->Proceed();
  return self.get();
}

PredictStreamCall::PredictStreamCall(StreamState& streams,
                                     grpc::CallbackServerContext* context)
    : streams_(streams),
      state_(streams.service),
      deadline_(absl::FromChrono(context->deadline())),
      call_(state_.tools, streams.metrics) {}

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
  if (const auto meaning = streams_.reader.Recall(Bytes(slice))) {
    const auto replies = state_.answers.FindAll(meaning->questions);
    if (!replies.empty()) {
      slot->cluster_version = replies.front().cluster_version;
      return Answered(slot, replies.front());
    }
  }
  const auto questions = streams_.reader.Read(Bytes(slice));
  if (!questions.ok()) return Answered(slot, questions.status());
  slot->cluster_version = questions->front().cluster_version;
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
  if (reply.ok()) {
    // Field 1 of a PredictStreamResponse is a prediction too.
    reply->cluster_version = slot->cluster_version;
    slot->answer = slot->request.Succeed({*std::move(reply)});
  } else {
    prism::v1::PredictStreamResponse response;
    *response.mutable_error() = ToRpcStatus(slot->request.Fail(reply.status()));
    slot->answer = Serialized(response);
  }
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
    std::lock_guard lock(streams_.mutex);
    streams_.open.erase(this);
  }
  self_.reset();
}

}  // namespace prism::server
