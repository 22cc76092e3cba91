// ExplainService over gRPC.
#ifndef PRISM_SERVER_EXPLAIN_SERVICE_H_
#define PRISM_SERVER_EXPLAIN_SERVICE_H_

#include <cstddef>

#include "prism/v1/explain_service.grpc.pb.h"
#include "server/question_method.h"
#include "server/service_state.h"

namespace prism::server {

// Thread-safe.
class ExplainService final : public prism::v1::ExplainService::
                                 WithRawCallbackMethod_ExplainVariability<
                                     prism::v1::ExplainService::Service> {
 public:
  // `recent_bytes` bounds what is remembered of requests; `state` outlives the
  // service.
  ExplainService(size_t recent_bytes, ServiceState& state);

  grpc::ServerUnaryReactor* ExplainVariability(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
      grpc::ByteBuffer* response) override {
    return explain_.Serve(context, request, response);
  }

 private:
  QuestionMethod explain_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_EXPLAIN_SERVICE_H_
