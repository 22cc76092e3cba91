#include "server/prediction_service.h"

#include <utility>
#include <vector>

#include "server/predict_call.h"
#include "server/predict_stream_call.h"
#include "server/rpc_status.h"
#include "server/wire.h"

namespace prism::server {

absl::StatusOr<Answers::Asked> ServiceState::Ask(const ReadQuestion& question,
                                                 absl::Time deadline,
                                                 Done done) {
  if (draining) {
    tools.metrics.shed_draining.Increment();
    return DrainingError();
  }
  auto compute = [this, question = question.question](
                     const base::Budget& budget, base::Executor& executor) {
    return predictor(question, budget, executor);
  };
  return answers.Ask(question.key, std::move(compute), deadline,
                     std::move(done));
}

PredictionService::PredictionService(Predictor predictor, size_t recent_bytes,
                                     Answers& answers, CallTools& tools)
    : state_{.predictor = std::move(predictor),
             .answers = answers,
             .tools = tools,
             .draining = false,
             .unary_reader = {RequestKind::kPredict, recent_bytes / 2},
             .stream_reader = {RequestKind::kPredictStream, recent_bytes / 2},
             .streams_mutex = {},
             .streams = {}} {}

void PredictionService::StartDraining() {
  state_.draining = true;
  std::lock_guard lock(state_.streams_mutex);
  for (PredictStreamCall* stream : state_.streams) stream->Drain();
}

grpc::ServerUnaryReactor* PredictionService::Predict(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* response) {
  CallScope call(state_.tools, state_.tools.metrics.predict);
  RequestScope scope(state_.tools, "Predict");
  const grpc::Slice slice = OnePiece(*request);
  if (const auto keys = state_.unary_reader.Recall(Bytes(slice))) {
    const auto replies = state_.answers.FindAll(*keys);
    if (!replies.empty()) {
      *response = Serialized(scope.Succeed(replies));
      auto* reactor = context->DefaultReactor();
      FinishCall(absl::OkStatus(), call, *context, *reactor);
      return reactor;
    }
  }
  const auto questions = state_.unary_reader.Read(Bytes(slice));
  if (!questions.ok()) {
    auto* reactor = context->DefaultReactor();
    FinishCall(scope.Fail(questions.status()), call, *context, *reactor);
    return reactor;
  }
  return PredictCall::Start(state_, std::move(call), std::move(scope),
                            *questions, context, response);
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>*
PredictionService::PredictStream(grpc::CallbackServerContext* context) {
  return PredictStreamCall::Start(state_, context);
}

}  // namespace prism::server
