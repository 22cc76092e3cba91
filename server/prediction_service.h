// PredictionService over gRPC: bytes in, bytes out, and never a simulation on
// an RPC thread.
//
// Uses the raw form of the callback API. Parsing requests here rather than in
// gRPC lets a malformed one be answered like any wrong question, lets a stream
// go on after it, and lets a repeated one be known by its bytes.
#ifndef PRISM_SERVER_PREDICTION_SERVICE_H_
#define PRISM_SERVER_PREDICTION_SERVICE_H_

#include <cstddef>

#include "prism/v1/prediction_service.grpc.pb.h"
#include "server/predict_request.h"
#include "server/predict_stream_call.h"
#include "server/question_method.h"
#include "server/service_state.h"

namespace prism::server {

// Thread-safe.
class PredictionService final
    : public prism::v1::PredictionService::WithRawCallbackMethod_Predict<
          prism::v1::PredictionService::WithRawCallbackMethod_PredictStream<
              prism::v1::PredictionService::Service>> {
 public:
  // `recent_bytes` bounds what is remembered of requests; `state` outlives the
  // service.
  PredictionService(const Predictor& predictor, size_t recent_bytes,
                    ServiceState& state);

  // To be called once state.draining is set: open streams end.
  void EndStreams();

  grpc::ServerUnaryReactor* Predict(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) override {
    return predict_.Serve(context, request, response);
  }

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* PredictStream(
      grpc::CallbackServerContext* context) override {
    return PredictStreamCall::Start(streams_, context);
  }

 private:
  QuestionMethod predict_;
  StreamState streams_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_PREDICTION_SERVICE_H_
