// The gRPC service: bytes in, bytes out, and never a simulation on an RPC
// thread.
//
// Uses the raw form of the callback API. Parsing requests here rather than in
// gRPC lets a malformed one be answered like any wrong question, lets a stream
// go on after it, and lets a repeated one be known by its bytes.
#ifndef PRISM_SERVER_PREDICTION_SERVICE_H_
#define PRISM_SERVER_PREDICTION_SERVICE_H_

#include <cstddef>

#include "prism/v1/prediction_service.grpc.pb.h"
#include "server/answers.h"
#include "server/call_scope.h"
#include "server/service_state.h"

namespace prism::server {

// Thread-safe.
class PredictionService final
    : public prism::v1::PredictionService::WithRawCallbackMethod_Predict<
          prism::v1::PredictionService::WithRawCallbackMethod_PredictStream<
              prism::v1::PredictionService::Service>> {
 public:
  // The references outlive the service; `recent_bytes` bounds what is
  // remembered of requests.
  PredictionService(Predictor predictor, size_t recent_bytes, Answers& answers,
                    CallTools& tools);

  // From now on new questions get UNAVAILABLE, and streams end.
  void StartDraining();

  grpc::ServerUnaryReactor* Predict(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) override;

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* PredictStream(
      grpc::CallbackServerContext* context) override;

 private:
  using RequestKind = RequestReader::Kind;

  ServiceState state_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_PREDICTION_SERVICE_H_
